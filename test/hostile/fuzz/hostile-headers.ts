import type { Dice } from '@holdfast/testkit'
import type { FuzzWorld } from './fuzz-world.ts'

const long = 'x'.repeat(20_000)

/** Headers to add to a request, or to put in place of the usual one. */
const others: readonly string[] = [
  ...[
    'Host: evil.example',
    'Host: ',
    'Host: localhost.evil.example',
    'Host: 127.0.0.1',
    'Host: 127.0.0.1.nip.io',
    'Host: [::1',
    'Host: a b',
    'Host: 127.0.0.1:99999',
  ],
  ...[
    'Origin: null',
    'Origin: https://evil.example',
    'Origin: http://localhost.evil.example',
    'Origin: http://127.0.0.1',
    'Origin: ',
    'Origin: file://',
    'Origin: x',
  ],
  ...[
    'Cookie: a',
    'Cookie: =',
    `Cookie: ${'a=b; '.repeat(1000)}`,
    'Cookie: __proto__=1; constructor=2',
    'Cookie: holdfast=x.y.z',
    'Cookie: holdfast_session=%',
    'Cookie: \u00ff=\u00fe',
  ],
  ...[
    'Authorization: ',
    'Authorization: Bearer',
    'Authorization: Bearer  ',
    'Authorization: Basic YTpi',
    `Authorization: Bearer ${long}`,
    'Authorization: Bearer a b',
    'Authorization: bearer \u00ff',
  ],
  ...[
    'If-None-Match: *',
    'If-None-Match: "',
    `If-None-Match: ${'"a",'.repeat(3000)}`,
    'If-None-Match: W/"x"',
    'If-Match: "x"',
    'If-Modified-Since: x',
    'Range: bytes=0-',
    'Range: bytes=-1,9-1',
  ],
  ...[
    'Accept-Encoding: gzip;q=NaN',
    `Accept-Encoding: ${'gzip,'.repeat(3000)}`,
    'Accept-Encoding: *;q=0',
    'Accept-Encoding: identity;q=0',
    'Accept-Encoding: br;q=-1',
    'Accept: ',
    'Accept-Language: \u00ff',
  ],
  ...[
    'Content-Length: -1',
    'Content-Length: 1e3',
    'Content-Length: 0x10',
    'Content-Length: 99999999999999999999',
    'Content-Length: 5, 5',
    'Content-Length: ',
    'Content-Length: 4194305',
    'Content-Length: +5',
  ],
  ...[
    'Transfer-Encoding: chunked',
    'Transfer-Encoding: gzip',
    'Transfer-Encoding: chunked, identity',
    'Transfer-Encoding: xchunked',
    'Transfer-Encoding : chunked',
    'Transfer-Encoding:\tchunked',
    'TE: trailers',
  ],
  ...[
    'Content-Type: text/plain',
    'Content-Type: application/json; charset=utf-16',
    'Content-Type: ',
    'Content-Type: application/jsonp',
    'Content-Type: multipart/form-data; boundary=x',
    'Content-Type: application/x-www-form-urlencoded',
  ],
  ...[
    'Content-Encoding: gzip',
    'Content-Encoding: br',
    'Expect: 100-continue',
    'Expect: something',
    'Upgrade: websocket',
    'Upgrade: h2c',
    'Connection: upgrade',
    'Connection: close, x-request-id',
    'Trailer: Authorization',
  ],
  ...[
    'Last-Event-ID: -1',
    'Last-Event-ID: 99999999999999999999',
    'Last-Event-ID: x',
    'Last-Event-ID: 0',
    'X-Request-Id: a\tb',
    'X-Request-Id: <script>',
    `X-Request-Id: ${'a'.repeat(500)}`,
    'Sec-Fetch-Site: cross-site',
  ],
  ...[
    'X-Forwarded-For: 1.2.3.4',
    `X-Forwarded-For: ${'1.2.3.4,'.repeat(1000)}`,
    'X-Forwarded-Proto: https',
    'X-Forwarded-Host: evil.example',
    'Forwarded: for=x',
    'X-HTTP-Method-Override: DELETE',
    'X-Original-URL: /v1/tokens',
  ],
  ...[
    'X-Holdfast-Client: __proto__',
    'X-Holdfast-Client: a b',
    '__proto__: x',
    'constructor: x',
    `X-Long: ${long}`,
    `${'x'.repeat(300)}: y`,
    'X-Folded: a\r\n b',
    'X Space: a',
    ': empty',
    'no colon',
    'X-Nul: a\u0000b',
    'X-Bare: a\rb',
    'X-Bare: a\nb',
  ],
]

/** Adds, replaces, repeats or drops headers. */
export function spoilHeaders(usual: readonly string[], { callers }: FuzzWorld, dice: Dice): readonly string[] {
  const lines = [...usual]
  for (let change = 0; change <= dice.below(3); change++) {
    const other = dice.pick(others) ?? ''
    const name = other.split(':')[0]?.toLowerCase()
    const same = lines.findIndex((line) => line.split(':')[0]?.toLowerCase() === name)
    if (same >= 0 && dice.chance(2, 3)) lines[same] = other
    else lines.splice(dice.below(lines.length + 1), 0, other)
    if (dice.chance(1, 10)) lines.splice(dice.below(lines.length), 1)
    if (dice.chance(1, 10)) lines.push(dice.pick(lines) ?? '')
    const secret = dice.pick(callers)?.secret
    if (dice.chance(1, 15) && secret) lines.push(`X-Api-Key: ${secret}`, `Cookie: token=${secret}`)
    if (dice.chance(1, 30)) for (let each = 0; each < 2500; each++) lines.push(`x-${each}: 1`)
  }
  return lines
}
