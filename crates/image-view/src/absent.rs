//! In a build without decoders no image is opened.

use std::{convert::Infallible, marker::PhantomData};

use super::{EncodedImage, ImageError, ImageInfo, ImageView};

/// An image file whose header was read, of which there is none.
#[derive(Debug)]
pub struct ImageFile<'b>(Infallible, PhantomData<&'b [u8]>);

impl<'b> ImageFile<'b> {
    /// Opens nothing: fails with [`ImageError::NotBuilt`].
    pub fn open(_: &'b [u8], _: &ImageInfo) -> Result<Self, ImageError> {
        Err(ImageError::NotBuilt)
    }

    /// Cannot be called, as there is no image: neither can those below.
    pub fn memory(&self) -> u64 {
        match self.0 {}
    }

    /// As [`Self::memory`], without an image.
    pub fn file_size(&self) -> u64 {
        match self.0 {}
    }

    /// As [`Self::memory`], without an image.
    pub fn size(&self) -> (u32, u32) {
        match self.0 {}
    }

    /// As [`Self::memory`], without an image.
    pub fn frames(&self) -> u32 {
        match self.0 {}
    }

    /// As [`Self::memory`], without an image.
    pub fn is_turned(&self) -> bool {
        match self.0 {}
    }

    /// As [`Self::memory`], without an image.
    pub fn check(&self, _: &dyn Fn() -> bool) -> Result<(), ImageError> {
        match self.0 {}
    }

    /// As [`Self::memory`], without an image.
    pub fn show(&self, _: &ImageView, _: &dyn Fn() -> bool) -> Result<Option<EncodedImage>, ImageError> {
        match self.0 {}
    }
}
