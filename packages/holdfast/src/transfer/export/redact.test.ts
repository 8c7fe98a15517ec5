import { describe, expect, it } from 'vitest'
import { redactions, redactText, redactValue } from './redact.ts'

// Put together here, so that nothing in the repository looks like a secret.
const secret = (...parts: readonly string[]): string => parts.join('')
const filler = 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6'

/** A text for each rule to find; a redacted copy contains none of them. */
const found: Readonly<Record<string, readonly string[]>> = {
  'a private key': [secret('-----BEGIN RSA PRI', 'VATE KEY-----\nMIIE\n-----END RSA PRI', 'VATE KEY-----')],
  'a JSON web token': [secret('ey', `J${filler}.ey${filler}.${filler}`)],
  'a key with a known beginning': [
    secret('sk', '-ant-api03-', filler),
    secret('sk', '-proj-', filler),
    secret('gh', 'p_', filler),
    secret('hold', 'fast_', filler),
    secret('github', '_pat_', filler),
    secret('AK', 'IA', 'ABCDEFGHIJKLMNOP'),
    secret('AI', 'za', filler, 'abc'),
    secret('xo', 'xb-', '123456789012-', filler),
  ],
  'a token of an Authorization header': [secret('Bea', 'rer ', filler)],
  'a password in an address': ['postgres://app:hunter22@db.example/x'],
  'a value that is given a secret name': [
    'DB_PASSWORD=hunter2hunter',
    'api_key: "abcdef123456"',
    "client-secret='abcdef123456'",
  ],
  'an e-mail address': ['mia.example@mail.example', 'jörg@straße.example'],
  'the name in a home directory': ['/home/mia/src', '/Users/mia', 'C:\\Users\\Mia\\proj', 'C:\\\\Users\\\\Mia'],
  'the home directory of root': [
    '/root/x',
    '"/root"',
    'cd /root',
    'file:///root/x',
    '/var/root/x',
    'PATH=/root/bin:/bin',
  ],
}

const telling = /hunter2|abcdef123456|a1B2c3D4|ABCDEFGHIJKLMNOP|MIIE|mia|Mia|jörg|straße|root/

/** What the garbage collector may add to a run. */
const noiseUs = 5_000

/** Returns the least CPU time of three runs. The steps of a pattern cannot be counted; other processes do not add to this. */
function measureCpuUs(text: string): number {
  const runs = [1, 2, 3].map(() => {
    const before = process.threadCpuUsage()
    redactText(text)
    return process.threadCpuUsage(before).user
  })
  return Math.min(...runs)
}

describe('redaction', () => {
  it('has a test for every rule', () => {
    expect(Object.keys(found)).toEqual(redactions.map(({ what }) => what))
  })

  it.each(Object.entries(found).flatMap(([what, texts]) => texts.map((text) => [what, text] as const)))(
    'removes %s: %s',
    (_, text) => {
      const clean = redactText(`before ${text} after`)
      expect(clean).not.toMatch(telling)
      expect(clean).toMatch(/^before .* after$/s)
    },
  )

  it.each([
    'The token count is 12, the secret is out, and the password was changed.',
    'see https://example.com/a@b?x=1',
    '3f786850e387550fdab836ed7e6dc881de23001b',
    'ses_01k5zzzzzzzzzzzzzzzzzzzzzz in /home and /Users',
    'const token = next()',
    'https://example.com/root/x, /srv/root/x, /rooted and ./root',
  ])('does not change %j', (text) => {
    expect(redactText(text)).toBe(text)
  })

  it('removes the home directory of the user', () => {
    const home = '/srv/people/mia'
    expect(redactText('see /srv/people/mia/x, /srv/people/mia2 and file:///srv/people/mia', home)).toBe(
      'see [home]/x, /srv/people/mia2 and file://[home]',
    )
    expect(redactText('/ and /x', '/')).toBe('/ and /x')
  })

  it('removes any value under a secret name', () => {
    expect(redactValue({ password: 'x', list: [{ apiKey: 'y', name: 'z' }], tokens: 5 })).toEqual({
      password: '[secret removed]',
      list: [{ apiKey: '[secret removed]', name: 'z' }],
      tokens: 5,
    })
  })

  it.each([
    'a',
    '_',
    'a-',
    'a.',
    'ab://',
    'sk-',
    'token',
    'token=',
    '/home/',
    '/root',
    'a@',
    'eyJ',
    '-----BEGIN PRI',
    ' ',
    'eyJ-',
    'secret_',
    'a@b.',
  ])('takes linear time for a long text of %j', (piece) => {
    const text = piece.repeat(Math.ceil(5_000 / piece.length))
    expect(measureCpuUs(text + text)).toBeLessThan(3 * measureCpuUs(text) + noiseUs)
  })

  it('removes everything also at the edges of the windows of a long text', () => {
    for (const text of Object.values(found).flat())
      for (const edge of [64 * 1024, 72 * 1024])
        for (let back = 0; back <= text.length + 1; back += 3) {
          const clean = redactText(`${'x '.repeat(edge / 2).slice(0, edge - back - 1)} ${text} ${'y '.repeat(10_000)}`)
          expect([text, back, telling.test(clean)]).toEqual([text, back, false])
        }
  })

  it.each([
    ['a key', secret('sk', '-'), '[key removed]'],
    ['a token', secret('ey', `J${filler}.`), '[token removed]'],
    ['a header', secret('Bea', 'rer '), secret('Bea', 'rer [token removed]')],
    ['a value', 'PASSWORD=', 'PASSWORD=[secret removed]'],
    ['a name', '/home/', '/home/[name]'],
    ['a private key', secret('-----BEGIN PRI', 'VATE KEY-----'), '[private key removed]'],
  ])('removes %s that is longer than a window', (_, begin, clean) => {
    expect(redactText(begin + 'a1B2c3D4'.repeat(50_000))).toBe(clean)
  })

  it('neither exhausts the stack nor joins a list of all matches for a text of megabytes', () => {
    const run = 'a'.repeat(12_000_000)
    expect(redactText(run) === run).toBe(true)
    expect(redactText('a@b.c '.repeat(500_000))).toBe('[e-mail address removed] '.repeat(500_000))
  })

  it('changes nothing when applied twice', () => {
    const once = Object.values(found)
      .flat()
      .map((text) => redactText(text))
    expect(once.map((text) => redactText(text))).toEqual(once)
  })
})
