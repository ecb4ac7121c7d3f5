package reader

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
)

// jmeterFiles are logs that JMeter 2.13 and 5.6.3 wrote.
func jmeterFiles() []string {
	return []string{
		"jmeter-2.13/default.csv", "jmeter-2.13/full.csv", "jmeter-2.13/results.xml",
		"jmeter-5.6.3/default.csv", "jmeter-5.6.3/transactions.csv", "jmeter-5.6.3/parent.csv", "jmeter-5.6.3/parent.xml",
		"jmeter-5.6.3/redirect.csv", "jmeter-5.6.3/redirect.xml", "jmeter-5.6.3/tab-ends.csv",
	}
}

func TestJMeterAgainstTheTarget(t *testing.T) {
	for _, file := range jmeterFiles() {
		t.Run(file, func(t *testing.T) {
			out := mustRead(t, jmeter(), reference(t, file), experiment.Span{})
			wellFormed(t, out)
			want := truthOf(t, file)
			// A followed redirect is one request here, and two at the target.
			hops := want.Statuses["302"]
			if got := out.Total.Sent; got != want.Requests-hops {
				t.Errorf("%d requests, the target saw %d with %d hops", got, want.Requests, hops)
			}
			if hops > 0 {
				wantNote(t, out, experiment.SeverityNote, "80 requests are parts of others")
			}
			statuses := want.status()
			delete(statuses, "302")
			if diff := cmp.Diff(statuses, out.Statuses); diff != "" {
				t.Errorf("statuses, target and log:\n%s", diff)
			}
			failures := map[string]int64{experiment.FailureStatus: statuses["500"]}
			if n := want.Statuses[held]; n > 0 {
				failures[experiment.FailureTimeout] = n
				wantUnknown(t, out, "bytes_received", "the length of an error")
			}
			if diff := cmp.Diff(failures, out.Errors); diff != "" {
				t.Errorf("failures, target and log:\n%s", diff)
			}
			if first := time.Unix(0, want.FirstArrival).Sub(out.Begin); first < 0 || first > 200*time.Millisecond {
				t.Errorf("the first request arrived %s after the window's begin", first)
			}
			wantUnknown(t, out, "latency_p99", "from the real send")
			wantNote(t, out, experiment.SeverityWarn, "multiples of 1ms")
		})
	}
}

func TestJMeterKilled(t *testing.T) {
	const file = "killed/jmeter-2.13/results.csv"
	text := reference(t, file)
	out, err := jmeter().ReadOutput(strings.NewReader(text), experiment.Span{})
	wantError(t, err, true, "line 554")
	wellFormed(t, out)
	seen := truthOf(t, file)
	// What was under way, or in the buffer, is lost.
	if got := out.Total.Sent; got != int64(strings.Count(text, "\n")) || got >= seen.Requests {
		t.Errorf("%d requests, the target saw %d", got, seen.Requests)
	}
	if out.Total.Errors[experiment.FailureTimeout] != seen.Statuses[held] {
		t.Errorf("%v, the target held %d", out.Total.Errors, seen.Statuses[held])
	}
}

func TestJMeterCutAnywhere(t *testing.T) {
	for _, file := range []string{"jmeter-5.6.3/redirect.csv", "jmeter-2.13/default.csv", "jmeter-2.13/results.xml", "jmeter-5.6.3/parent.xml"} {
		text := reference(t, file)
		for n := len(text) - 2; n > len(text)-300; n -= 17 {
			out, err := jmeter().ReadOutput(strings.NewReader(text[:n]), experiment.Span{})
			csv := strings.HasSuffix(file, "csv")
			switch {
			case csv && text[n-1] == '\n': // at a row's end it looks whole
				if err != nil {
					t.Fatalf("%s cut to %d bytes: %v", file, n, err)
				}
			case !csv && strings.HasSuffix(strings.TrimSpace(text[:n]), "</testResults>"):
			default:
				wantError(t, err, true, "cut off")
			}
			if out.Total.Sent == 0 {
				t.Fatalf("%s cut to %d bytes: nothing was read", file, n)
			}
		}
	}
}

func TestJMeterKindsOfRequests(t *testing.T) {
	for _, file := range []string{"jmeter-5.6.3/default.csv", "jmeter-5.6.3/parent.xml"} {
		out := mustRead(t, jmeter(), reference(t, file), experiment.Span{})
		sum := int64(0)
		for _, name := range []string{"home", "items"} {
			sum += out.Requests[name].Sent
			if p99, told := observed(out, "service_time_p99{"+name+"}"); !told || p99 <= 0 {
				t.Errorf("service_time_p99{%s} is %g (told: %v)", name, p99, told)
			}
		}
		if sum != out.Total.Sent || len(out.Requests) != 2 {
			t.Errorf("%s: %d of %d requests are of a kind, of %d", file, sum, out.Total.Sent, len(out.Requests))
		}
		home, _ := observed(out, "throughput{home}")
		items, _ := observed(out, "throughput{items}")
		wantValues(t, out, map[string]float64{"throughput": home + items})
	}
}

func TestJMeterTransactions(t *testing.T) {
	for _, file := range []string{"jmeter-5.6.3/transactions.csv", "jmeter-5.6.3/parent.csv", "jmeter-5.6.3/parent.xml"} {
		out := mustRead(t, jmeter(), reference(t, file), experiment.Span{})
		wantNote(t, out, experiment.SeverityNote, "100 transactions are not counted")
	}
	const one = `1796055360000,9,visit,200,"Number of samples in transaction : 3, number of failing samples : 0",tg 1-1,,true,9,1,1,4` + "\n"
	t.Run("without their requests", func(t *testing.T) {
		out := mustRead(t, jmeter(), one+one, experiment.Span{})
		wantNote(t, out, experiment.SeverityWarn, "all of its 2 samples are transactions, of 6 requests")
		wantDone(t, out, 2, 0)
	})
	t.Run("with fewer requests than they hold", func(t *testing.T) {
		out := mustRead(t, jmeter(), one+"1796055360009,3,GET /,200,OK,tg 1-1,text,true,104,1,1,3\n", experiment.Span{})
		wantNote(t, out, experiment.SeverityWarn, "of their 3 requests it tells of 1")
		wantDone(t, out, 1, 0)
	})
}

func TestJMeterStamps(t *testing.T) {
	const file = "jmeter-5.6.3/tab-ends.csv"
	out := mustRead(t, jmeter(), reference(t, file), experiment.Span{})
	wantNote(t, out, experiment.SeverityNote, "its time stamps are ends")
	_, err := jmeter().ReadOutput(strings.NewReader(reference(t, "jmeter-5.6.3/pattern.csv")), experiment.Span{})
	wantError(t, err, false, `line 2: time stamp "2026/12/01 00:06:47.987" is no Unix time in milliseconds: set jmeter.save.saveservice.timestamp_format=ms`)
	alone := mustRead(t, jmeter(), "1796055360009,3,GET /,200,OK,tg 1-1,text,true,104,1,1,3\n", experiment.Span{})
	wantNote(t, alone, experiment.SeverityNote, "begins or ends does not show")
}

func TestJMeterSpan(t *testing.T) {
	text := reference(t, "jmeter-2.13/full.csv")
	all := mustRead(t, jmeter(), text, experiment.Span{})
	begin := all.Begin.Add(time.Second)
	out := mustRead(t, jmeter(), text, experiment.Span{Begin: begin, End: begin.Add(time.Second)})
	if out.Window != time.Second || out.Total.Sent == 0 || out.Total.Sent >= all.Total.Sent {
		t.Errorf("%d requests in %s, of %d", out.Total.Sent, out.Window, all.Total.Sent)
	}
	_, err := jmeter().ReadOutput(strings.NewReader(text), experiment.Span{Begin: begin.Add(time.Hour)})
	wantError(t, err, false, "none of its 400 requests")
}

const jmeterHeader = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,success,bytes\n"

func TestJMeterColumns(t *testing.T) {
	for name, c := range map[string]struct{ text, note string }{
		"quoted":                  {jmeterHeader + `1796055360000,7,"a ""b"", c",500,"two` + "\n" + `lines, and a comma",tg 1-1,false,138` + "\n", "begins or ends"},
		"a few, in another order": {"elapsed;success;timeStamp\n5;true;1796055360000\n", "it has no responseCode"},
		"a pipe":                  {strings.ReplaceAll("timeStamp,elapsed,success\n1796055360000,5,true\n", ",", "|"), "it has no threadName"},
		"a byte order mark":       {"\ufeff" + jmeterHeader + "1796055360000,7,a,200,OK,tg 1-1,true,138\r\n", "begins or ends"},
		"5.x without a header":    {"1796055360000,7,a,200,OK,tg 1-1,text,true,,138,100,1,1,http://a/,7,0,0\n", "begins or ends"},
	} {
		t.Run(name, func(t *testing.T) {
			out := mustRead(t, jmeter(), c.text, experiment.Span{})
			wellFormed(t, out)
			wantNote(t, out, experiment.SeverityNote, c.note)
			if out.Total.Sent != 1 {
				t.Errorf("%d requests, want 1", out.Total.Sent)
			}
		})
	}
}

func TestJMeterRefuses(t *testing.T) {
	deep := `<testResults version="1.2">` + strings.Repeat("<a>", 2*maxXMLDepth)
	for name, c := range map[string]struct {
		text string
		cut  bool
		want string
	}{
		"another tool":             {"Summary:\n", false, "a sample log (JTL)"},
		"no time stamp":            {"elapsed,success\n5,true\n", false, "timestamp_format=ms"},
		"no success":               {"timeStamp,elapsed\n1796055360000,5\n", false, "successful=true"},
		"columns that are unknown": {"1796055360000,7,a,200,OK,tg 1-1,text,true,1\n", false, "print_field_names=true"},
		"a time of another form":   {jmeterHeader + "1796055360.1,7,a,200,OK,t,true,1\n", false, "line 2: time stamp"},
		"a time far off":           {jmeterHeader + "99999999999999,7,a,200,OK,t,true,1\n", false, "line 2: time stamp"},
		"times far apart":          {jmeterHeader + "1,7,a,200,OK,t,true,1\n1796055360000,7,a,200,OK,t,true,1\n", false, "apart"},
		"a negative time":          {jmeterHeader + "1796055360000,-7,a,200,OK,t,true,1\n", false, "line 2: an elapsed time"},
		"samples together":         {"timeStamp,elapsed,success,SampleCount\n1796055360000,70,true,9\n", false, "mode=Standard"},
		"fields that lack":         {jmeterHeader + "1796055360000,7,a\n1796055360000,7,a,200,OK,t,true,1\n", false, "line 2: 3 fields"},
		"a header in its middle":   {jmeterHeader + "1796055360000,7,a,200,OK,t,true,1\n" + jmeterHeader, false, "line 3: time stamp"},
		"an open quote":            {jmeterHeader + "1796055360000,7,a,200,OK,t,true,1\n1796055360000,7,\"a\n", true, "cut off"},
		"half a header":            {"timeStamp,elapsed,la", true, "first line"},
		"a header alone":           {jmeterHeader, true, "no request"},
		"another root":             {"<?xml version=\"1.0\"?>\n<html></html>", false, "testResults"},
		"elements too deep":        {deep, false, "in one another"},
		"an entity":                {`<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "c">]><testResults><sample lb="&b;"/></testResults>`, false, "entity"},
		"a sample without a time":  {`<testResults><sample t="1" s="true"/></testResults>`, false, "attribute ts"},
		"XML alone":                {`<?xml version="1.0" encoding="UTF-8"?>`, true, "cut off"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := jmeter().ReadOutput(strings.NewReader(c.text), experiment.Span{})
			wantError(t, err, c.cut, c.want)
		})
	}
}

func TestFailureOfJava(t *testing.T) {
	for text, want := range map[string]string{
		"java.net.SocketTimeoutException Non HTTP response message: Read timed out":                                     experiment.FailureTimeout,
		"org.apache.http.conn.ConnectTimeoutException Connect to 10.0.0.1:80 failed: connect timed out":                 experiment.FailureConnect,
		"org.apache.http.conn.HttpHostConnectException Connect to a:80 failed: Connection refused (Connection refused)": experiment.FailureRefused,
		"java.net.SocketException Connection reset":                                                                     experiment.FailureReset,
		"org.apache.http.NoHttpResponseException a:80 failed to respond":                                                experiment.FailureEOF,
		"java.net.UnknownHostException a":                                                                               experiment.FailureConnect,
		"javax.net.ssl.SSLHandshakeException PKIX path building failed":                                                 experiment.FailureTLS,
		"org.apache.http.MalformedChunkCodingException Bad chunk header":                                                experiment.FailureProtocol,
		"java.net.BindException Cannot assign requested address":                                                        experiment.FailureConnect,
		"500": experiment.FailureOther,
	} {
		if got := failureOfJava(text); got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
	out := mustRead(t, jmeter(), jmeterHeader+"1796055360000,7,a,200,OK,t,false,1\n", experiment.Span{})
	if out.Errors[experiment.FailureBody] != 1 {
		t.Errorf("a failed assertion is %v", out.Errors)
	}
}

func FuzzJMeter(f *testing.F) {
	for _, file := range append(jmeterFiles(), "killed/jmeter-2.13/results.csv", "jmeter-5.6.3/pattern.csv") {
		text := []byte(reference(f, file))
		f.Add(text)
		f.Add(text[:min(len(text), 700)]) // small ones are mutated faster
	}
	fuzzTool(f, jmeter())
}
