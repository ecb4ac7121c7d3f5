package reader

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"

	"github.com/ceteris/ceteris/experiment"
)

// maxXMLDepth is how deep elements may lie in one another.
const maxXMLDepth = 100

// readJMeterXML counts the samples that lie in no other one, and those in a transaction.
func readJMeterXML(data []byte, span experiment.Span) (*result, error) {
	samples := newJMeterLog()
	cut, err := samples.readXML(bytes.TrimPrefix(data, []byte("\ufeff")))
	if err != nil {
		return nil, err
	}
	return samples.result("XML", span, cut)
}

// place is what an element is to those in it.
type place int

const (
	inOther      place = iota // a property of a sample
	inSample                  // a sample here is part of a request
	inCollection              // a sample here is a request
)

// readXML gathers the samples; cut says that the log ends before its end.
func (l *jmeterLog) readXML(data []byte) (cut, err error) {
	d := xml.NewDecoder(bytes.NewReader(data))
	var open []place
	begun := false
	for {
		t, err := d.Token()
		line, _ := d.InputPos()
		switch {
		case errors.Is(err, io.EOF) && begun:
			return nil, nil
		case err != nil && (errors.Is(err, io.EOF) || d.InputOffset() >= int64(len(data))):
			return incomplete("it is cut off in line %d", line), nil
		case err != nil:
			return nil, err
		}
		switch t := t.(type) {
		case xml.StartElement:
			if !begun && t.Name.Local != "testResults" {
				return nil, fmt.Errorf("line %d: its root is %s, not testResults", line, quote([]byte(t.Name.Local)))
			}
			begun = true
			if len(open) == maxXMLDepth {
				return nil, fmt.Errorf("line %d: more than %d elements in one another", line, maxXMLDepth)
			}
			is, err := l.element(t, open)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", line, err)
			}
			open = append(open, is)
		case xml.EndElement:
			open = open[:len(open)-1]
		}
	}
}

// element looks at an element that begins in those that are open.
func (l *jmeterLog) element(t xml.StartElement, open []place) (place, error) {
	if len(open) == 0 {
		return inCollection, nil
	}
	parent := open[len(open)-1]
	switch {
	case t.Name.Local != "httpSample" && t.Name.Local != "sample":
		return inOther, nil
	case parent == inSample:
		l.parts++
		return inSample, nil
	case parent == inOther:
		return inOther, nil
	}
	s, err := sampleOfXML(t)
	if err != nil {
		return inOther, err
	}
	if l.add(s) {
		return inCollection, nil
	}
	return inSample, nil
}

func sampleOfXML(t xml.StartElement) (jmeterSample, error) {
	at := map[string]string{}
	for _, a := range t.Attr {
		at[a.Name.Local] = a.Value
	}
	for _, need := range []struct{ name, set string }{{"ts", "timestamp_format=ms"}, {"t", "time=true"}, {"s", "successful=true"}} {
		if _, ok := at[need.name]; !ok {
			return jmeterSample{}, fmt.Errorf("a sample has no attribute %s: set jmeter.save.saveservice.%s", need.name, need.set)
		}
	}
	s := jmeterSample{
		label: at["lb"], thread: at["tn"], code: at["rc"], message: at["rm"], success: at["s"] == "true",
		bytes: bytesTold(at["by"]), sent: bytesTold(at["sby"]),
	}
	if err := s.numbers(at["ts"], at["t"], at["sc"]); err != nil {
		return s, err
	}
	return s, s.check()
}
