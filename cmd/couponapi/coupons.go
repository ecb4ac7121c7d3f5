package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"
)

// policies is how many there are; a request reads ten of them.
const policies = 100

func policyKey(id int) string { return "policy:" + strconv.Itoa(id) }

// terms are those of every policy, as often as it takes to fill it.
const terms = "One coupon an order. Not combined with other offers."

// policyText is what Redis holds for a policy: JSON of a length in bytes, or of about
// 170 where that is longer.
func policyText(id, length int) string {
	head := fmt.Sprintf(`{"id":%d,"name":"Coupon policy %d","discount_percent":%d,"minimum_order":%d,"valid_until":"2099-12-31","terms":"%s`,
		id, id, 5+id%30, 10*(1+id%20), terms)
	const tail = `"}`
	missing := max(0, length-len(head)-len(tail))
	again := strings.Repeat(" "+terms, missing/(len(terms)+1)+1)
	return head + again[:missing] + tail
}

// policyOf gives the i-th policy of a user; the ten of a user differ.
func policyOf(user uint64, i int) int {
	return (int(user%policies) + 7*i) % policies // 7 and 100 have no common divisor
}

// lookup reads the policies of a user.
type lookup struct {
	store      *store
	roundTrips int
	fanout     bool
	each       func(ctx context.Context, key string) // told of every operation done; nil: nobody is
}

// available gives the texts of the ten policies, in the same order whether they
// were read one after another or all at once.
func (l *lookup) available(ctx context.Context, user uint64) ([policiesPerRequest]string, error) {
	var texts [policiesPerRequest]string
	if !l.fanout {
		for i := range texts {
			var err error
			if texts[i], err = l.policy(ctx, policyOf(user, i)); err != nil {
				return texts, err
			}
		}
		return texts, nil
	}
	all, ctx := errgroup.WithContext(ctx)
	for i := range texts {
		all.Go(func() (err error) {
			texts[i], err = l.policy(ctx, policyOf(user, i))
			return err
		})
	}
	return texts, all.Wait()
}

// policy reads one policy, in as many operations as set.
func (l *lookup) policy(ctx context.Context, id int) (text string, err error) {
	key := policyKey(id)
	for range l.roundTrips {
		if text, err = l.store.read(ctx, key); err != nil {
			return "", fmt.Errorf("read %s: %w", key, err)
		}
		if l.each != nil {
			l.each(ctx, key)
		}
	}
	return text, nil
}
