package docker

import (
	"encoding/json"
	"strings"
	"testing"
)

// No message is longer on the engine's disk than it is taken for, and an ordinary one not
// much shorter.
func TestDiskSize(t *testing.T) {
	for name, message := range map[string]string{
		"a line of CSV":   "1764547200000000000,200,1234567,0,12,,,attack,17,,GET,http://app:80/\n",
		"JSON":            `{"attack":"","seq":0,"code":200,"latency":1234567,"body":"aGVsbG8="}` + "\r\n",
		"control, markup": "\x00\x1b\t<a href=\"x\">&\\\n",
		"other letters":   "µs é 日本 \u2028\n",
		"no text":         "\xff\xfe\n",
		"a part":          strings.Repeat("x", 16<<10),
		"nothing":         "",
	} {
		t.Run(name, func(t *testing.T) {
			var d diskSize
			if n, err := d.Write([]byte(message)); n != len(message) || err != nil {
				t.Fatalf("%d, %v", n, err)
			}
			entry, err := json.Marshal(map[string]string{"log": message, "stream": "stdout", "time": "2026-12-01T01:24:55.123456789Z"})
			if err != nil {
				t.Fatal(err)
			}
			if onDisk := len(entry) + 1; int(d) < onDisk || int(d) > onDisk+64+5*nonASCII(message) {
				t.Errorf("%d bytes for %d", d, onDisk)
			}
		})
	}
}

func nonASCII(text string) (n int) {
	for i := range len(text) {
		if text[i] >= 0x80 {
			n++
		}
	}
	return n
}
