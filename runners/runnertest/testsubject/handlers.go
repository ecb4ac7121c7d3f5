package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

func handler(children []int) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /cpus", func(w http.ResponseWriter, _ *http.Request) {
		spawn(20, 10*time.Second)
		answer(w, allowed(append([]int{os.Getpid()}, children...)))
	})
	mux.HandleFunc("GET /env", func(w http.ResponseWriter, _ *http.Request) { answer(w, environ()) })
	mux.HandleFunc("GET /args", func(w http.ResponseWriter, _ *http.Request) { answer(w, os.Args[1:]) })
	mux.HandleFunc("GET /exe", func(w http.ResponseWriter, _ *http.Request) {
		exe, err := os.Executable()
		reply(w, exe, err)
	})
	mux.HandleFunc("GET /exit", func(_ http.ResponseWriter, r *http.Request) { os.Exit(number(r.FormValue("code"), 0)) })
	mux.HandleFunc("GET /burn", burn)
	mux.HandleFunc("GET /alloc", alloc)
	mux.HandleFunc("GET /threads", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, spawn(number(r.FormValue("n"), 0), 10*time.Second))
	})
	mux.HandleFunc("GET /log", logLines)
	mux.HandleFunc("GET /fetch", fetch)
	mux.HandleFunc("GET /read", func(w http.ResponseWriter, r *http.Request) {
		b, err := os.ReadFile(r.FormValue("name"))
		reply(w, string(b), err)
	})
	mux.HandleFunc("GET /ls", list)
	mux.HandleFunc("GET /make", makeFiles)
	mux.HandleFunc("GET /write", func(w http.ResponseWriter, r *http.Request) {
		path, err := filepath.Abs(r.FormValue("name"))
		if err == nil {
			err = os.WriteFile(path, []byte(r.FormValue("text")), 0o600)
		}
		reply(w, path, err)
	})
	return mux
}

// list answers with a line for everything in a directory: its path in it, mode, owner
// and content or target.
func list(w http.ResponseWriter, r *http.Request) {
	dir := r.FormValue("name")
	var lines []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		var text string
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			text, err = os.Readlink(path)
		case info.Mode().IsRegular():
			var b []byte
			b, err = os.ReadFile(path)
			text = string(b)
		}
		owner := info.Sys().(*syscall.Stat_t)
		lines = append(lines, fmt.Sprintf("%s %v %d:%d %q", strings.TrimPrefix(path, dir), info.Mode(), owner.Uid, owner.Gid, text))
		return err
	})
	reply(w, strings.Join(lines, "\n"), err)
}

// makeFiles fills a directory with what a copy of it must keep.
func makeFiles(w http.ResponseWriter, r *http.Request) {
	dir := r.FormValue("name")
	err := errors.Join(
		os.WriteFile(filepath.Join(dir, "file"), []byte("content"), 0o640),
		os.Mkdir(filepath.Join(dir, "closed"), 0o700),
		os.WriteFile(filepath.Join(dir, "closed", "tool"), nil, 0o600),
		os.Chmod(filepath.Join(dir, "closed", "tool"), 0o751),
		os.Chmod(filepath.Join(dir, "closed"), 0o500),
		os.Symlink("../nowhere", filepath.Join(dir, "link")),
		os.Symlink("/etc/hostname", filepath.Join(dir, "far")),
	)
	if os.Geteuid() == 0 {
		err = errors.Join(err, os.Lchown(filepath.Join(dir, "file"), 1234, 2345), os.Chmod(filepath.Join(dir, "file"), 0o640))
	}
	reply(w, "made", err)
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

func reply(w http.ResponseWriter, text string, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	fmt.Fprint(w, text)
}

func environ() map[string]string {
	env := map[string]string{}
	for _, e := range os.Environ() {
		k, v, _ := strings.Cut(e, "=")
		env[k] = v
	}
	return env
}

// burn uses the processor on some threads for some time by the wall clock, and
// answers with the processor time that the whole process used meanwhile, in
// seconds.
func burn(w http.ResponseWriter, r *http.Request) {
	before := cpuSeconds()
	until := time.Now().Add(time.Duration(number(r.FormValue("ms"), 0)) * time.Millisecond)
	var wg sync.WaitGroup
	for range max(number(r.FormValue("threads"), 1), 1) {
		wg.Go(func() {
			for time.Now().Before(until) {
				spin()
			}
		})
	}
	wg.Wait()
	fmt.Fprintf(w, "%.6f", cpuSeconds()-before)
}

// spin uses the processor for some microseconds.
func spin() {
	x := uint64(1)
	for range 10_000 {
		x = x*6364136223846793005 + 1442695040888963407
	}
	runtime.KeepAlive(x)
}

func cpuSeconds() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}

// alloc takes memory, touches every page, answers, and keeps it until the
// process ends.
func alloc(w http.ResponseWriter, r *http.Request) {
	size := number(r.FormValue("mb"), 0) << 20
	mem, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	for i := 0; err == nil && i < len(mem); i += 4096 {
		mem[i] = 1
	}
	reply(w, "taken", err)
}

// logLines writes lines of a length in bytes (the line's end included) to one of
// the outputs.
func logLines(w http.ResponseWriter, r *http.Request) {
	out := io.Writer(os.Stdout)
	if r.FormValue("to") == "stderr" {
		out = os.Stderr
	}
	text := r.FormValue("text")
	width := max(number(r.FormValue("bytes"), 10), len(text)+1)
	line := text + strings.Repeat("x", width-len(text)-1) + "\n"
	for range number(r.FormValue("lines"), 1) {
		if _, err := io.WriteString(out, line); err != nil {
			reply(w, "", err)
			return
		}
	}
	fmt.Fprint(w, width)
}

// fetch asks another service and passes its answer on.
func fetch(w http.ResponseWriter, r *http.Request) {
	req, err := http.NewRequestWithContext(r.Context(), http.MethodGet, r.FormValue("url"), nil)
	if err != nil {
		reply(w, "", err)
		return
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		reply(w, "", err)
		return
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	reply(w, string(body), err)
}
