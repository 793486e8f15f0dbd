use paging::Pager;

#[test]
fn full_pages() {
    let pages: Vec<_> = Pager::new(10).pages(30).collect();
    assert_eq!(pages.len(), 3);
    assert_eq!((pages[2].first, pages[2].last), (20, 29));
}

#[test]
fn the_last_page_may_be_short() {
    let pager = Pager::new(20);
    assert_eq!(pager.page_count(95), 5);
    let last = pager.page(95, 5).expect("95 items need a fifth page");
    assert_eq!((last.first, last.last, last.len()), (80, 94, 15));
    assert_eq!(last.to_string(), "page 5: 81–95");
}

#[test]
fn every_item_is_on_exactly_one_page() {
    for total in 0..50 {
        let shown: usize = Pager::new(7).pages(total).map(|page| page.len()).sum();
        assert_eq!(shown, total, "of {total} items");
    }
}

#[test]
fn an_empty_list_has_no_pages() {
    assert_eq!(Pager::new(10).page_count(0), 0);
    assert_eq!(Pager::new(10).page(0, 1), None);
}
