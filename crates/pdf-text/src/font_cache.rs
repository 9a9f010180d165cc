//! The fonts that are kept from page to page.

use std::{cell::RefCell, collections::HashMap, rc::Rc};

use super::{
    error::PdfError,
    font::Font,
    object::{Dict, Reference},
    pdf_file::PdfFile,
};

/// Bytes of the fonts that are kept.
pub(super) const FONTS: usize = 24 << 20;

/// Fonts by the object that they are.
#[derive(Default)]
pub(super) struct FontCache {
    loaded: RefCell<HashMap<u32, Rc<Font>>>,
}

impl FontCache {
    /// The font that `dict` describes, which is the object `reference` where it is one.
    pub(super) fn load(
        &self,
        file: &PdfFile<'_>,
        reference: Option<Reference>,
        dict: &Dict,
    ) -> Result<Rc<Font>, PdfError> {
        let kept = reference.and_then(|reference| self.loaded.borrow().get(&reference.number).cloned());
        if let Some(font) = kept {
            return Ok(font);
        }
        let font = Rc::new(Font::load(file, dict)?);
        if let Some(reference) = reference {
            let mut loaded = self.loaded.borrow_mut();
            if weight(loaded.values()) + font.weight() > FONTS {
                loaded.clear();
            }
            loaded.insert(reference.number, Rc::clone(&font));
        }
        Ok(font)
    }
}

/// How much memory these fonts take.
pub(super) fn weight<'f>(fonts: impl Iterator<Item = &'f Rc<Font>>) -> usize {
    fonts.map(|font| font.weight()).sum()
}
