package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/viper"
)

// config is what may be set outside a command line.
type config struct {
	DB string `mapstructure:"db"` // database file
}

// configFile is looked for in the working directory.
const configFile = ".ceteris.yaml"

// loadConfig gives, in this order: the flag, $CETERIS_DB, db: in .ceteris.yaml, and
// ceteris.db. It is the only use of viper: matrices never pass through it.
func loadConfig(dir string, getenv func(string) string, dbFlag string) (config, error) {
	v := viper.New()
	v.SetDefault("db", "ceteris.db")
	path := filepath.Join(dir, configFile)
	v.SetConfigFile(path)
	v.SetConfigType("yaml")
	err := checkRegular(path)
	if err == nil {
		err = v.ReadInConfig()
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return config{}, &usageError{fmt.Errorf("read %s: %w", path, err)}
	}
	for _, key := range v.AllKeys() {
		if !slices.Contains(configKeys(), key) {
			return config{}, &usageError{fmt.Errorf("%s: unknown key %s (known: %s)", path, key, strings.Join(configKeys(), ", "))}
		}
	}
	if env := getenv("CETERIS_DB"); env != "" {
		v.Set("db", env)
	}
	if dbFlag != "" {
		v.Set("db", dbFlag)
	}
	var c config
	if err := v.Unmarshal(&c); err != nil {
		return config{}, &usageError{fmt.Errorf("read %s: %w", path, err)}
	}
	return c, nil
}

// checkRegular refuses what may block whoever opens it, or has no end.
func checkRegular(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return errors.New("not a regular file")
	default:
		return nil
	}
}

func configKeys() []string {
	var keys []string
	for f := range reflect.TypeFor[config]().Fields() {
		keys = append(keys, f.Tag.Get("mapstructure"))
	}
	return keys
}
