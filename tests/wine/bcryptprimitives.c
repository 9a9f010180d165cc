// A stand-in for bcryptprimitives.dll, which Wine 8 (Debian 12) lacks. Rust and getrandom import ProcessPrng
// from it (https://github.com/rust-lang/rust/pull/121337): without it, no Rust program starts there.
// https://learn.microsoft.com/en-us/windows/win32/seccng/processprng
#include <windows.h>

#define RtlGenRandom SystemFunction036
BOOLEAN NTAPI RtlGenRandom(PVOID buffer, ULONG length);

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T length)
{
    while (length) {
        ULONG part = length > 0x10000 ? 0x10000 : (ULONG)length;
        if (!RtlGenRandom(data, part)) return FALSE;
        data += part;
        length -= part;
    }
    return TRUE;
}
