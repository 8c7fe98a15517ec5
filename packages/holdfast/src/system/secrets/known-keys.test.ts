import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { holdsKey, keyBegun, keyHeldBack, keyMark, maskError, maskKeys, mayHoldKey, registerKey } from './known-keys.ts'

/** Has the form of a key, but is not one. Each test has its own, because a key stays registered for the process. */
const made = (name: string) => `made-${name}-${'X0'.repeat(12)}`

describe('a known key', () => {
  it('is masked at every occurrence', () => {
    const key = made('plain')
    const text = `first ${key}, then "${key}"${key}`
    expect(maskKeys(text)).toBe(text)
    registerKey(key)
    expect(maskKeys(text)).toBe(`first ${keyMark}, then "${keyMark}"${keyMark}`)
    expect(holdsKey(text)).toBe(true)
    expect(holdsKey('nothing')).toBe(false)
  })

  it.each([
    ['JSON', (key: string) => JSON.stringify({ key })],
    ['an address', (key: string) => `https://example.org/?key=${encodeURIComponent(key)}`],
    [
      'a page',
      (key: string) => `<p>${key.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')}</p>`,
    ],
  ])('is masked in %s form', (_, form) => {
    const key = `made"odd\\key&<+/=${'X0'.repeat(8)}`
    registerKey(key)
    expect(maskKeys(form(key))).not.toContain('X0X0')
  })

  it.each(['', 'u', 'user', 'user:', 'three'])(
    'is masked in base64 after %j, except for shared characters',
    (before) => {
      const key = made('encoded')
      registerKey(key)
      for (const encoding of ['base64', 'base64url'] as const) {
        const masked = maskKeys(Buffer.from(`${before}${key} after`).toString(encoding))
        expect(masked).toContain(keyMark)
        const left = masked.split(keyMark).map((part) => Buffer.from(part, encoding).toString('latin1'))
        expect(left.join()).not.toContain('X0X0')
      }
    },
  )

  it.each([
    [76, '\n'],
    [64, '\r\n'],
    [20, '\n    '],
    [1, '\n'],
  ])('is masked in base64 with lines of %i and %j', (width, lineBreak) => {
    const key = `${made('wrapped')}${'9z'.repeat(16)}`
    registerKey(key)
    for (const before of ['', 'BOX=', 'OTHER_BOX=']) {
      const encoded = Buffer.from(`${before}${key}\nMORE=1\n`).toString('base64')
      const text = (encoded.match(new RegExp(`.{1,${width}}`, 'g')) ?? []).join(lineBreak)
      const left = maskKeys(`one\n${text}\ntwo`).split(keyMark)
      expect(left).toHaveLength(2)
      expect(Buffer.from(left.join(' ').replace(/\s/g, ''), 'base64').toString('latin1')).not.toContain('9z9z')
    }
  })

  it('is masked across line breaks, but not when two words happen to form it', () => {
    const key = made('folded')
    registerKey(key)
    registerKey('season24')
    expect(maskKeys(`a\n${key.slice(0, 9)}\n${key.slice(9)}\nb`)).toBe(`a\n${keyMark}\n\nb`)
    expect(maskKeys('the season\n24 days\nseason\n24')).toBe('the season\n24 days\nseason\n24')
  })

  it('is masked whole when another key is its prefix', () => {
    const key = made('short-one')
    registerKey(key)
    registerKey(`${key}-and-more-9`)
    expect(maskKeys(`${key}-and-more-9`)).toBe(keyMark)
  })

  // With a look from each place to the end of the text, this would take longer than a test may.
  it('is found at the end of a long text in one scan', () => {
    const key = made('long')
    registerKey(key)
    registerKey('word')
    const text = 'token: a line as a tool would print it, with nothing in it\n'.repeat(40_000)
    expect(maskKeys(`${text}${key}`)).toBe(`${text}${keyMark}`)
  })
})

describe('a key that is an ordinary word', () => {
  it.each(['ollama', 'not-needed', 'EMPTY1'])('is not masked in ordinary use: %s', (key) => {
    registerKey(key)
    expect(maskKeys(`use ${key} here`)).toBe(`use ${key} here`)
  })

  it.each(['Authorization: Bearer ollama', '"x-api-key": "ollama"', 'api_key=ollama&x=1'])(
    'is masked when introduced as a key: %s',
    (text) => {
      registerKey('ollama')
      expect(maskKeys(text)).toBe(text.replace('ollama', keyMark))
      expect(maskKeys(text.replace('ollama', 'ollama2'))).toContain('ollama2')
    },
  )
})

it('returns how much of the end of a text may start a key', () => {
  // The texts begin with a character that no key has: keys of other tests of this process are known too.
  const key = made('begun')
  registerKey(key)
  expect(keyBegun(`§§§ ${key.slice(0, 12)}`)).toBe(12)
  expect(keyBegun(`§§§ ${key.slice(0, 12)}.`)).toBe(0)
  expect(keyBegun('')).toBe(0)
  for (const end of ['\n', '\r', '\r\n', '\n  ', '\r\n12\t', '\r\nX\n'])
    expect(keyBegun(`§§§\n ${made('begun').slice(0, 12)}${end}`), JSON.stringify(end)).toBe(
      end.includes('X') ? 0 : 12 + end.length,
    )
  expect(keyBegun(`§§§\n${key.slice(0, 5)}\n${key.slice(5, 12)}`)).toBe(13)
})

it('holds back a start of a key that is longer than four characters, or than a quarter of the key', () => {
  const [long, short] = [`#${made('held')}`, '~key-1234']
  for (const one of [long, short]) registerKey(one)
  expect(keyHeldBack(`§§§ ${long.slice(0, 4)}`)).toBe(0)
  expect(keyHeldBack(`§§§ ${long.slice(0, 5)}`)).toBe(5)
  expect(keyHeldBack(`§§§ ${short.slice(0, 2)}`)).toBe(0)
  expect(keyHeldBack(`§§§ ${short.slice(0, 3)}`)).toBe(3)
  expect(keyHeldBack(`§§§\n${long.slice(0, 4)}\n`)).toBe(0)
  expect(keyHeldBack(`§§§\n${long.slice(0, 5)}\n`)).toBe(6)
})

const key = `made-error-${'X0'.repeat(12)}`
registerKey(key)

it.each([
  ['its words', new Error(`wrong key ${key}`)],
  ['its cause', new Error('failed', { cause: new TypeError(key) })],
  ['what hangs on it', Object.assign(new Error('failed'), { request: { headers: { 'x-api-key': key } } })],
  ['what it is, being no error', { headers: [key] }],
  ['what it says, being a text', `wrong key ${key}`],
])('masks a key in %s', (_, thrown) => {
  const masked = maskError(thrown)
  expect(inspect(masked, { depth: 20 })).not.toContain(key)
})

it('keeps the type and stack of an error', () => {
  const thrown = Object.assign(new RangeError(`not ${key}`), { code: 'ERR_MADE', body: key })
  const masked = maskError(thrown)
  expect(masked).toMatchObject({ name: 'RangeError', message: `not ${keyMark}`, code: 'ERR_MADE' })
  expect(masked).toHaveProperty('stack', expect.stringContaining('known-keys.test.ts'))
})

it('returns an error without keys unchanged', () => {
  const thrown = new Error('plain')
  expect(maskError(thrown)).toBe(thrown)
})

it('finds in bytes whatever it masks in a text', () => {
  const key = 'sk-live-0123456789abcdef'
  registerKey(key)
  registerKey('harbourmaster')
  const texts = [
    `a ${key} b`,
    Buffer.from(`x${key}`).toString('base64'),
    `sk-live-0123\n  456789abcdef`,
    'token: harbourmaster',
    'nothing of it\n',
    'the harbourmaster\n',
  ]
  const found = texts.map((text) => mayHoldKey(Buffer.from(text)))
  expect(found).toEqual([true, true, true, true, false, false])
  expect(found).toEqual(texts.map(holdsKey))
})

it('keeps the line breaks of a key that is broken into lines, also several between two characters', () => {
  registerKey('sk-broken-0123456789abcdef')
  expect(maskKeys('a\nsk-broken-0123\n456789abcdef b\nc')).toBe(`a\n${keyMark}\n b\nc`)
  expect(maskKeys('sk-broken-0123\n\n  456789\r\nabcdef')).toBe(`${keyMark}\n\n  \r\n`)
})

it('is found in UTF-16 that was read as bytes, in both byte orders', () => {
  registerKey('sk-wide-0123456789abcdef')
  const little = Buffer.from('a sk-wide-0123456789abcdef b', 'utf16le')
  for (const bytes of [little, Buffer.from(little).swap16()]) {
    expect(mayHoldKey(bytes)).toBe(true)
    expect(maskKeys(bytes.toString('latin1'))).not.toMatch(/k\0?-\0?w\0?i/)
  }
})
