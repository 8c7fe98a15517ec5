import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { orThrow } from '@holdfast/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { changeCredentials, credentialsPath, findKeyProblem, readCredentials } from './credentials.ts'

const key = `made-file-${'X0'.repeat(12)}`
let base = ''
let path = ''
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'hf-credentials-'))
  path = credentialsPath(join(base, 'config'))
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

const modeOf = (name: string) => statSync(name).mode & 0o777
const add = (service: string, baseUrl?: string) =>
  changeCredentials(path, (credentials) => credentials.set(service, { key, ...(baseUrl && { baseUrl }) }))
const write = (text: string, mode = 0o600) => {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  writeFileSync(path, text)
  chmodSync(path, mode)
}
const whole = JSON.stringify({ version: 1, providers: { openai: { key } } })

describe('the credentials file', () => {
  it('stores keys, and a missing file is empty', async () => {
    expect(orThrow(await readCredentials(path)).credentials.size).toBe(0)
    expect(existsSync(dirname(path))).toBe(false)
    writeFileSync(join(base, 'file'), '')
    expect(orThrow(await readCredentials(join(base, 'file', 'credentials.json'))).credentials.size).toBe(0)
    orThrow(await add('openai'))
    orThrow(await add('mybox', 'http://127.0.0.1:8000/v1'))
    expect([...orThrow(await readCredentials(path)).credentials]).toEqual([
      ['openai', { key }],
      ['mybox', { key, baseUrl: 'http://127.0.0.1:8000/v1' }],
    ])
  })

  it.each([0o000, 0o022, 0o077])('is private under umask %o, without a leftover temporary file', async (mask) => {
    const before = process.umask(mask)
    try {
      orThrow(await add('openai'))
    } finally {
      process.umask(before)
    }
    expect([modeOf(dirname(path)), modeOf(path)]).toEqual([0o700, 0o600])
    expect(readdirSync(dirname(path))).toEqual(['credentials.json'])
  })

  it('is made private with a notice if others could read it', async () => {
    write(whole, 0o644)
    chmodSync(dirname(path), 0o755)
    const read = orThrow(await readCredentials(path))
    expect(read.credentials.get('openai')).toEqual({ key })
    expect(read.notices.join()).toContain('was readable by other users')
    expect(modeOf(path)).toBe(0o600)
    expect(orThrow(await readCredentials(path)).notices).toEqual([])
    expect(orThrow(await add('google')).notices.join()).toContain(`${dirname(path)} was open`)
    expect(modeOf(dirname(path))).toBe(0o700)
  })

  it.each([
    ['is cut', whole.slice(0, 30)],
    ['is empty', ''],
    ['has another version', JSON.stringify({ version: 2, providers: {} })],
    ['has an invalid key', JSON.stringify({ version: 1, providers: { openai: { key: `${key}\n` } } })],
    ['has a key in place of a name', JSON.stringify({ version: 1, providers: { [key]: key } })],
    ['is something else', '[]'],
  ])('is refused unchanged if it %s, without quoting its keys', async (_, text) => {
    write(text)
    for (const refused of [await readCredentials(path), await add('google')]) {
      expect(refused).toMatchObject({ ok: false, fault: { code: 'storage_error', details: { path } } })
      expect(JSON.stringify(refused)).toContain('is damaged')
      expect(JSON.stringify(refused)).not.toContain('X0X0')
    }
    expect(readFileSync(path, 'utf8')).toBe(text)
    expect(readdirSync(dirname(path))).toEqual(['credentials.json'])
  })

  it('is refused if it is a symbolic link', async () => {
    const elsewhere = join(base, 'elsewhere.json')
    writeFileSync(elsewhere, whole)
    mkdirSync(dirname(path))
    symlinkSync(elsewhere, path)
    for (const refused of [await readCredentials(path), await add('google')])
      expect(refused).toMatchObject({ ok: false, fault: { message: expect.stringContaining('is a symbolic link') } })
    expect(readFileSync(elsewhere, 'utf8')).toBe(whole)
  })

  it('is refused if it is not a file', async () => {
    mkdirSync(path, { recursive: true })
    expect(await readCredentials(path)).toMatchObject({ ok: false })
  })

  it.runIf(process.getuid)('is refused if it belongs to another user', async () => {
    // Only root can change the owner; others use a file of root.
    const isRoot = process.getuid?.() === 0
    if (isRoot) {
      write(whole)
      chownSync(path, 12_345, 12_345)
    }
    expect(await readCredentials(isRoot ? path : '/etc/passwd')).toMatchObject({
      ok: false,
      fault: { message: expect.stringContaining('belongs to another user') },
    })
  })

  it('loses nothing with concurrent writers', async () => {
    const names = Array.from({ length: 12 }, (_, n) => `provider-${n}`)
    for (const added of await Promise.all(names.map((name) => add(name)))) orThrow(added)
    expect([...orThrow(await readCredentials(path)).credentials.keys()].sort()).toEqual([...names].sort())
  })

  it('is written despite a temporary file from a crash', async () => {
    write(whole)
    writeFileSync(`${path}.new`, 'half')
    utimesSync(`${path}.new`, 1, 1)
    orThrow(await add('google'))
    expect([...orThrow(await readCredentials(path)).credentials.keys()]).toEqual(['openai', 'google'])
  })
})

const pasted = `made-X0X0${'X0'.repeat(8)}`

describe('a pasted key', () => {
  it.each([
    ['', 'empty'],
    [`"${pasted}"`, 'quotes'],
    [`'${pasted}'`, 'quotes'],
    [`OPENAI_API_KEY=${pasted}`, 'assignment'],
    [`export OPENAI_API_KEY=${pasted}`, 'assignment'],
    ['https://example.org/keys', 'address'],
    [`${pasted} ${pasted}`, 'space'],
    [`${pasted}\u200b`, 'characters'],
    ['ключ', 'characters'],
    ['x'.repeat(5000), 'too long'],
  ])('explains what is wrong with %j without quoting it', (text, word) => {
    expect(findKeyProblem(text)).toContain(word)
    expect(findKeyProblem(text)).not.toContain('X0X0')
  })

  it.each([pasted, 'ollama', `A=`, `${pasted}==`])('accepts %j', (text) => {
    expect(findKeyProblem(text)).toBeNull()
  })
})
