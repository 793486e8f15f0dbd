use crate::Page;

/// Splits lists into pages of one size.
#[derive(Debug, Clone, Copy)]
pub struct Pager {
    per_page: usize,
}

impl Pager {
    /// A pager with so many items on a page, at least one.
    pub fn new(per_page: usize) -> Self {
        Self { per_page: per_page.max(1) }
    }

    /// Number of pages of a list of `total` items.
    pub fn page_count(&self, total: usize) -> usize {
        total / self.per_page
    }

    /// The page with this number, from one, if the list has it.
    pub fn page(&self, total: usize, number: usize) -> Option<Page> {
        if number == 0 || number > self.page_count(total) {
            return None;
        }
        let first = (number - 1) * self.per_page;
        let last = (first + self.per_page).min(total) - 1;
        Some(Page { number, first, last })
    }

    /// All pages of a list, in order.
    pub fn pages(&self, total: usize) -> impl Iterator<Item = Page> + '_ {
        (1..=self.page_count(total)).filter_map(move |number| self.page(total, number))
    }
}
