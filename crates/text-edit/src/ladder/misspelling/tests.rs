//! Tests of what is a typo between two lines.

use super::{is_slip, is_typo};

#[test]
fn typing_errors_are_typos_and_other_words_are_not() {
    for (old, new) in [
        ("retrun total", "return total"),
        ("self.conection.close()", "self.connection.close()"),
        ("fi ready:", "if ready:"),
        ("print(\"hello, name)", "print(\"hello\", name)"),
        ("int value2s = 0;", "int values2 = 0;"),
        ("f(a,b)", "f(a, b)"),
    ] {
        assert!(is_typo(old, new), "{old} {new}");
    }
    for (old, new) in [
        ("a == b", "a != b"),
        ("timeout = 30", "timeout = 60"),
        ("x = 1", "y = 1"),
        ("get(x)", "set(x)"),
        ("lock(m)", "unlock(m)"),
        ("v1.load()", "v2.load()"),
        ("total += n", "total -= n"),
        ("if ready:", "if not ready:"),
        ("return", "return x"),
        (") limit = get()", "limit = get()"),
        ("} }", "}"),
    ] {
        assert!(!is_typo(old, new), "{old} {new}");
    }
}

#[test]
fn misremembered_words_are_typos_and_other_meanings_are_not() {
    for (old, file) in [
        ("serialize(x)", "serialise(x)"),
        ("reutrn x", "return x"),
        ("f(a,b)", "f(a, b);"),
        ("// is fine", "// this is fine"),
    ] {
        assert!(is_slip(old, file, &|_| false), "{old} {file}");
    }
    for (old, file) in [
        ("get(x)", "set(x)"),
        ("form(x)", "from(x)"),
        ("upper(x)", "lower(x)"),
        ("maximum_len", "minimum_len"),
        ("perf_mmap_cb_set_t", "perf_mmap_cb_get_t"),
        ("isNewValue", "isOldValue"),
        ("dal_gpio_service_unlock(", "dal_gpio_service_lock("),
        ("return }", "return"),
        ("void (*call)(int, int),", "void (*call)(int, int))"),
        ("a[1]", "a[2]"),
        ("a == b", "a != b"),
        ("if x", "if not x"),
        ("// 5 s", "// 6 s"),
        ("// in v2.0 only", "// in v7.0 only"),
        ("// the earliest result", "// the latest result"),
        ("// may be kept", "// may not be kept"),
        ("// a < b is kept", "// a > b is kept"),
        ("#[arg(last = true)]", "#[arg(last = false)]"),
        ("#define LIMIT_L1 0x20", "#define LIMIT_L7 0x20"),
        ("# if MINOR_VERSION", "# if not MINOR_VERSION"),
        ("*first = value", "*last = value"),
    ] {
        assert!(!is_slip(old, file, &|_| false), "{old} {file}");
    }
}
