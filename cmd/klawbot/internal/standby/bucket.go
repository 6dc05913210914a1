package standby

import (
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// bucket is a place in an S3-compatible store. Five requests are all it needs, so it
// takes of the SDK only what signs them.
type bucket struct {
	http                *http.Client
	name, prefix        string
	endpoint            string // empty: AWS
	region, key, secret string
}

const (
	// requestTime bounds a small request.
	requestTime = 10 * time.Second
	// emptySum is the SHA-256 of nothing.
	emptySum = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
)

// do sends a signed request. The caller closes the body of the answer.
func (b *bucket) do(ctx context.Context, method, name string, query url.Values, o object, header map[string]string) (*http.Response, error) {
	endpoint := b.endpoint
	if endpoint == "" {
		endpoint = "https://s3." + b.region + ".amazonaws.com"
	}
	address, err := url.Parse(endpoint)
	if err != nil {
		return nil, err
	}
	address.Path = path.Join("/", b.name, name)
	address.RawQuery = query.Encode()
	r, err := http.NewRequestWithContext(ctx, method, address.String(), o.body)
	if err != nil {
		return nil, err
	}
	r.ContentLength = o.size
	for k, v := range header {
		r.Header.Set(k, v)
	}
	sum := o.sum
	if sum == "" {
		sum = emptySum
	}
	r.Header.Set("X-Amz-Content-Sha256", sum)
	signer := v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true })
	if err := signer.SignHTTP(ctx, aws.Credentials{AccessKeyID: b.key, SecretAccessKey: b.secret}, r, sum, "s3", b.region, time.Now()); err != nil {
		return nil, err
	}
	answer, err := b.http.Do(r)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode/100 == 2 {
		return answer, nil
	}
	defer answer.Body.Close()
	return nil, refusal(method, answer)
}

// refusal is the error of an answer that says no.
func refusal(method string, answer *http.Response) error {
	var why struct{ Code, Message string }
	_ = xml.NewDecoder(io.LimitReader(answer.Body, 16<<10)).Decode(&why) // the status says enough
	switch answer.StatusCode {
	case http.StatusNotFound:
		if why.Code != "NoSuchBucket" {
			return fs.ErrNotExist
		}
	case http.StatusPreconditionFailed, http.StatusConflict:
		return fs.ErrExist
	}
	return fmt.Errorf("S3 %s: HTTP %d %s %s", method, answer.StatusCode, why.Code, why.Message)
}

func (b *bucket) open(ctx context.Context, name string) (io.ReadCloser, error) {
	answer, err := b.do(ctx, http.MethodGet, path.Join(b.prefix, name), nil, object{}, nil)
	if err != nil {
		return nil, err
	}
	return answer.Body, nil
}

func (b *bucket) put(ctx context.Context, name string, o object, fresh bool) error {
	header := map[string]string{}
	if fresh {
		header["If-None-Match"] = "*"
	}
	return b.done(b.do(ctx, http.MethodPut, path.Join(b.prefix, name), nil, o, header))
}

func (b *bucket) remove(ctx context.Context, name string) error {
	return b.done(b.do(ctx, http.MethodDelete, path.Join(b.prefix, name), nil, object{}, nil))
}

func (b *bucket) done(answer *http.Response, err error) error {
	if err != nil {
		return err
	}
	return answer.Body.Close()
}

func (b *bucket) list(ctx context.Context, under string) (names []string, err error) {
	prefix := path.Join(b.prefix, under) + "/"
	query := url.Values{"list-type": {"2"}, "prefix": {prefix}}
	for {
		answer, err := b.do(ctx, http.MethodGet, "", query, object{}, nil)
		if err != nil {
			return nil, err
		}
		var page struct {
			Contents              []struct{ Key string }
			IsTruncated           bool
			NextContinuationToken string
		}
		err = xml.NewDecoder(io.LimitReader(answer.Body, maxRecord)).Decode(&page)
		if err := b.done(answer, err); err != nil {
			return nil, err
		}
		for _, o := range page.Contents {
			names = append(names, path.Join(under, o.Key[len(prefix):]))
		}
		if !page.IsTruncated || page.NextContinuationToken == "" {
			return names, nil
		}
		query.Set("continuation-token", page.NextContinuationToken)
	}
}

func (b *bucket) replica(under string) (settings map[string]any, environ []string) {
	settings = map[string]any{"type": "s3", "bucket": b.name, "path": path.Join(b.prefix, under), "region": b.region}
	if b.endpoint != "" {
		settings["endpoint"], settings["force-path-style"] = b.endpoint, true
	}
	return settings, []string{"AWS_ACCESS_KEY_ID=" + b.key, "AWS_SECRET_ACCESS_KEY=" + b.secret}
}
