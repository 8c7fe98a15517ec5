import { describe, expect, it } from 'vitest'
import { parseSessionName } from './parse-session-name.ts'

const id = 'ses_01k9xyzabcdefghjkmnpqrstvw'

describe('parseSessionName', () => {
  it.each([
    ['id', id],
    ['prefix', id.slice(0, 12)],
    ['handle', 'calm-harbor-12'],
    ['key', '20260102-030405-00112233445566aa'],
    ['key', 'session-1'],
    ['key', 'telegram:4711'],
    ['key', 'support'],
    ['key', 'calm-harbor'],
    ['key', 'agent:main:main'],
  ])('recognizes an %s by its form', (type, text) => {
    expect(parseSessionName(text)).toMatchObject({ ok: true, value: { type } })
  })

  it.each([
    '',
    '.',
    '..',
    '../etc/passwd',
    'ses_',
    `${id}0`,
    'ses_ILOU',
    '__proto__',
    'CON',
    'nul.txt',
    'a/1',
    '1 2',
    '../1',
    '@latest',
    'a\u0000b',
  ])('rejects %j', (text) => {
    expect(parseSessionName(text)).toMatchObject({ ok: false, fault: { code: 'bad_id' } })
  })

  it('shortens the name in the fault', () => {
    expect(parseSessionName('x'.repeat(5000))).toMatchObject({ fault: { details: { name: 'x'.repeat(100) } } })
  })
})
