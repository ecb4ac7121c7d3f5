package docker

import (
	"fmt"
	"strings"
	"testing"
)

func TestReadBuild(t *testing.T) {
	var many strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&many, `{"stream":"line %d\n"}`, i)
	}
	for _, tc := range []struct {
		name, report, id, fault string
	}{
		{"done", `{"stream":"Step 1/1 : FROM x"}{"stream":"\n"}{"stream":" ---> 1234\n"}{"aux":{"ID":"sha256:ab"}}{"stream":"Successfully built ab\n"}`, "sha256:ab", ""},
		{
			"failed", `{"stream":"Step 1/2 : RUN a\n"}{"stream":"of a\n"}{"stream":"Step 2/2 : RUN b\n"}{"stream":" ---> Running in 12\n"}{"stream":"of b\n"}` +
				`{"stream":"Removing intermediate container 12\n"}{"errorDetail":{"code":3,"message":"b returned 3"},"error":"b returned 3"}`,
			"", "Step 2/2 : RUN b: b returned 3; its last output:\nof b",
		},
		{"failed at once", `{"errorDetail":{"message":"no room"},"error":"no room"}`, "", "no room"},
		{"cut off", `{"stream":"Step 1/2 : RUN a\n"}{"str`, "", "unexpected EOF"},
		{"ended early", `{"stream":"Step 1/2 : RUN a\n"}`, "", "the engine names no image"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			id, err := readBuild(strings.NewReader(tc.report))
			if id != tc.id || (err == nil) != (tc.fault == "") || err != nil && err.Error() != tc.fault {
				t.Errorf("got %q, %v, want %q, %s", id, err, tc.id, tc.fault)
			}
		})
	}
	_, err := readBuild(strings.NewReader(many.String() + `{"errorDetail":{"message":"x"}}`))
	if err == nil || strings.Count(err.Error(), "\n") != 20 || !strings.HasSuffix(err.Error(), "\nline 4999") {
		t.Errorf("the end of much output: got %v, want its last 20 lines", err)
	}
}
