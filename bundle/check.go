package bundle

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

// ErrDamaged says that a run directory does not hold what its checksums promise.
var ErrDamaged = errors.New("damaged run directory")

// Check reads every file of the run directory and compares it with the list of checksums. It returns ErrDamaged for a
// missing, changed or unlisted file, joined over all of them.
func Check(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("run directory: %w", err)
	}
	defer root.Close()
	want, err := readSums(root)
	if err != nil {
		return fmt.Errorf("%s: %w: %w", dir, ErrDamaged, err)
	}
	return errors.Join(checkListed(root, want), checkUnlisted(root, want))
}

func readSums(root *os.Root) (map[string]string, error) {
	f, err := root.Open(Sums)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	want := map[string]string{}
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		sum, name, ok := strings.Cut(lines.Text(), "  ")
		if !ok || len(sum) != 2*sha256.Size || name == "" {
			return nil, fmt.Errorf("%s:%d: not a checksum line", Sums, n)
		}
		want[name] = sum
	}
	return want, lines.Err()
}

func checkListed(root *os.Root, want map[string]string) error {
	var errs []error
	for name, sum := range want {
		got, err := sumOf(root, name)
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("%s: %w: %w", name, ErrDamaged, err))
		case got != sum:
			errs = append(errs, fmt.Errorf("%s: %w: its SHA-256 is %s, not %s", name, ErrDamaged, got, sum))
		}
	}
	return errors.Join(errs...)
}

func sumOf(root *os.Root, name string) (string, error) {
	f, err := root.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	digest := sha256.New()
	if _, err := io.Copy(digest, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(digest.Sum(nil)), nil
}

func checkUnlisted(root *os.Root, want map[string]string) error {
	var errs []error
	err := fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || name == Sums {
			return err
		}
		if _, ok := want[name]; !ok {
			errs = append(errs, fmt.Errorf("%s: %w: not in %s", name, ErrDamaged, Sums))
		}
		return nil
	})
	return errors.Join(append(errs, err)...)
}
