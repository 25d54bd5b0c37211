package fetch

import (
	"net/url"
	"testing"
)

func TestReadable(t *testing.T) {
	base, err := url.Parse("https://example.com/docs/page")
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct{ html, title, text string }{
		{"", "", ""},
		{"plain\n  words", "", "plain words"},
		{"<title>A &amp;\n B</title><body><h1>Head</h1><p>One <b>bold</b>, <i>two</i>.</p><p>Next</p>", "A & B", "# Head\n\nOne bold, two.\n\nNext"},
		{"<script>if (a < b) x('<p>')</script><style>p{}</style><p>seen</p><template>no</template><!-- no -->", "", "seen"},
		{"<ul><li>one<li><p>two</p><ul><li>three</ul></ul>after", "", "- one\n\n- two\n\n- three\n\nafter"},
		{`<a href="../x?a=1&amp;b">link</a> and <a href="#here">here</a>, <a href="javascript:x()">js</a>, <a href="https://a.b/">https://a.b/</a>`, "", "link (https://example.com/x?a=1&b) and here, js, https://a.b/"},
		{`<base href="https://other.org/"><a href="y">open`, "", "open (https://other.org/y)"},
		{"<pre>a\n  b &lt;\n</pre>end", "", "a\n  b <\n\n\nend"},
		{"<table><tr><th>a<th>b<tr><td>1<td>2</table>", "", "a | b\n1 | 2"},
		{"a<br>b<br><br>c", "", "a\nb\n\nc"},
		{"<img src=x alt='a cat'><hr>x", "", "[a cat]\n\n---\n\nx"},
		{"<div><div>a</div><div>b</div></div><svg><svg><text>no</text></svg><text>no</text></svg>c", "", "a\nb\nc"},
		{"<p>a</p></p></div></pre></a>b &noentity; <<>", "", "a\n\nb &noentity; <<>"},
		{"<noscript><p>turn it on</p></noscript>", "", "turn it on"},
		{"<p>cut off <a href='z'>in the", "", "cut off in the (https://example.com/docs/z)"},
	}
	for _, test := range tests {
		if title, text := readable(base, test.html); title != test.title || text != test.text {
			t.Errorf("%s:\n%q, %q\nwant\n%q, %q", test.html, title, text, test.title, test.text)
		}
	}
}
