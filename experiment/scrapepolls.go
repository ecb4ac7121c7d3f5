package experiment

import "strings"

const scrapeFailed = "scrape_failed{"

// ScrapeFailed names the series of the polls of a page: 1 where a poll failed, else 0.
func ScrapeFailed(page string) string { return scrapeFailed + page + "}" }

// ScrapedPage gives the page whose polls a series tells of, if it does.
func ScrapedPage(metric string) (page string, ok bool) {
	page, ok = strings.CutPrefix(metric, scrapeFailed)
	return strings.TrimSuffix(page, "}"), ok
}
