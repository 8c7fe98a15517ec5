import { execFile } from 'node:child_process'
import { mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { limits } from '@holdfast/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openWorkdir } from '../../../../testkit/src/contracts/tool.ts'
import { createMemory, memoryLine, minuteOf } from './memory.ts'

const noon = Date.parse('2026-03-04T12:00:00Z')
const stamp = '- [2026-03-04 12:00 UTC]'

async function openMemory() {
  const { workdir, beside } = await openWorkdir()
  const userFile = join(beside, 'config', 'holdfast', 'MEMORY.md')
  const workspaceFile = join(workdir, '.holdfast', 'MEMORY.md')
  const memory = createMemory({ userFile, now: () => noon })
  const note = (scope: 'user' | 'workspace', text: string) => ({ workdir, scope, text })
  const modeOf = async (path: string) => (await stat(path)).mode & 0o777
  return { memory, note, modeOf, workdir, beside, userFile, workspaceFile }
}

describe('writing to memory', () => {
  it('creates the user file readable by its owner only', async () => {
    const { memory, note, modeOf, userFile } = await openMemory()
    const first = await memory.append(note('user', 'one'))
    expect(first).toEqual({
      ok: true,
      value: { path: userFile, change: 'created', line: `${stamp} one`, isTold: true },
    })
    expect(await memory.append(note('user', 'two'))).toMatchObject({ value: { change: 'modified' } })
    expect(await readFile(userFile, 'utf8')).toBe(`${stamp} one\n${stamp} two\n`)
    expect(await modeOf(userFile)).toBe(0o600)
    expect(await modeOf(join(userFile, '..'))).toBe(0o700)
  })

  it('creates the workspace file with the usual permissions', async () => {
    const { memory, note, modeOf, workdir, workspaceFile } = await openMemory()
    await writeFile(join(workdir, 'other'), '')
    expect(await memory.append(note('workspace', 'one'))).toMatchObject({
      value: { path: '.holdfast/MEMORY.md', change: 'created' },
    })
    expect(await readFile(workspaceFile, 'utf8')).toBe(`${stamp} one\n`)
    expect(await modeOf(workspaceFile)).toBe(await modeOf(join(workdir, 'other')))
  })

  it('starts a new line after an unterminated one', async () => {
    const { memory, note, workdir, workspaceFile } = await openMemory()
    await mkdir(join(workdir, '.holdfast'))
    await writeFile(workspaceFile, 'by hand')
    expect(await memory.foresee(note('workspace', 'one'))).toEqual({
      ok: true,
      value: { path: '.holdfast/MEMORY.md', before: 'by hand', after: 'by hand\n- [time of writing] one\n' },
    })
    await memory.append(note('workspace', 'one'))
    expect(await readFile(workspaceFile, 'utf8')).toBe(`by hand\n${stamp} one\n`)
  })

  it('loses and splits no line when two processes write at once', async () => {
    const { workdir, userFile, workspaceFile } = await openMemory()
    const script = `
      const { createMemory } = await import(${JSON.stringify(join(import.meta.dirname, 'memory.ts'))})
      const [userFile, workdir, name] = process.argv.slice(1)
      const memory = createMemory({ userFile, now: () => ${noon} })
      for (let n = 0; n < 50; n++)
        for (const scope of ['user', 'workspace']) {
          const written = await memory.append({ workdir, scope, text: name + n })
          if (!written.ok) throw new Error(written.fault.message)
        }`
    const write = (name: string) =>
      promisify(execFile)(process.execPath, ['--input-type=module', '-e', script, userFile, workdir, name])
    await Promise.all([write('a'), write('b')])
    const expected = ['a', 'b'].flatMap((name) => Array.from({ length: 50 }, (_, n) => `${stamp} ${name}${n}`)).sort()
    for (const file of [userFile, workspaceFile])
      expect((await readFile(file, 'utf8')).trimEnd().split('\n').sort()).toEqual(expected)
  })

  it('refuses to grow beyond the size that is sent to the model', async () => {
    const { memory, note, workdir, workspaceFile } = await openMemory()
    await mkdir(join(workdir, '.holdfast'))
    const full = `${'x'.repeat(limits.memoryBytesMax - 10)}\n`
    await writeFile(workspaceFile, full)
    const refused = {
      fault: { code: 'too_large', message: expect.stringContaining('may not grow beyond 16384 bytes') },
    }
    expect(await memory.foresee(note('workspace', 'one'))).toMatchObject(refused)
    expect(await memory.append(note('workspace', 'one'))).toMatchObject(refused)
    expect(await readFile(workspaceFile, 'utf8')).toBe(full)
  })

  it.each([
    [
      'the file out of the workspace',
      async (workdir: string) => {
        await mkdir(join(workdir, '.holdfast'))
        await symlink('../../secret', join(workdir, '.holdfast', 'MEMORY.md'))
      },
    ],
    [
      'the file to another of the workspace',
      async (workdir: string) => {
        await mkdir(join(workdir, '.holdfast'))
        await symlink('../notes', join(workdir, '.holdfast', 'MEMORY.md'))
      },
    ],
    ['the folder out of the workspace', (workdir: string) => symlink('..', join(workdir, '.holdfast'))],
  ])('follows no link of the workspace: %s', async (_, link) => {
    const { memory, note, workdir, beside } = await openMemory()
    for (const file of [join(beside, 'secret'), join(beside, 'MEMORY.md'), join(workdir, 'notes')])
      await writeFile(file, 'as it was')
    await link(workdir)
    expect(await memory.foresee(note('workspace', 'one'))).toMatchObject({ ok: false })
    expect(await memory.append(note('workspace', 'one'))).toMatchObject({ ok: false })
    for (const file of [join(beside, 'secret'), join(beside, 'MEMORY.md'), join(workdir, 'notes')])
      expect(await readFile(file, 'utf8')).toBe('as it was')
  })

  it('follows a link of the user file', async () => {
    const { memory, note, beside, userFile } = await openMemory()
    await mkdir(join(userFile, '..'), { recursive: true })
    await writeFile(join(beside, 'kept'), 'as it was\n')
    await symlink(join(beside, 'kept'), userFile)
    await memory.append(note('user', 'one'))
    expect(await readFile(join(beside, 'kept'), 'utf8')).toBe(`as it was\n${stamp} one\n`)
    expect(await memory.read(beside)).toMatchObject({ user: { text: `as it was\n${stamp} one` } })
  })

  it('refuses anything but a regular file without blocking', async () => {
    const { memory, note, workdir, workspaceFile } = await openMemory()
    await mkdir(join(workdir, '.holdfast'))
    await promisify(execFile)('mkfifo', [workspaceFile])
    expect(await memory.foresee(note('workspace', 'one'))).toMatchObject({ ok: false })
    expect(await memory.read(workdir)).toEqual({ user: null, workspace: null })
  })
})

describe('reading memory', () => {
  it('returns both, and null for a file that is missing, empty, binary or a link out of the workspace', async () => {
    const { memory, note, workdir, beside, workspaceFile } = await openMemory()
    expect(await memory.read(workdir)).toEqual({ user: null, workspace: null })
    expect(await memory.read(join(workdir, 'none'))).toEqual({ user: null, workspace: null })
    await memory.append(note('user', 'mine'))
    await memory.append(note('workspace', 'ours'))
    expect(await memory.read(workdir)).toMatchObject({
      user: { text: `${stamp} mine`, leftOutBytes: 0 },
      workspace: { text: `${stamp} ours`, leftOutBytes: 0, path: '.holdfast/MEMORY.md' },
    })
    for (const content of ['', ' \n', 'a\0b']) {
      await writeFile(workspaceFile, content)
      expect(await memory.read(workdir)).toMatchObject({ workspace: null })
    }
    const { workdir: other } = await openWorkdir()
    await mkdir(join(other, '.holdfast'))
    await writeFile(join(beside, 'secret'), 'secret')
    await symlink(join(beside, 'secret'), join(other, '.holdfast', 'MEMORY.md'))
    expect(await memory.read(other)).toMatchObject({ workspace: null })
  })

  it('returns the newest whole lines of a long file and the number of bytes left out', async () => {
    const { memory, workdir, workspaceFile } = await openMemory()
    await mkdir(join(workdir, '.holdfast'))
    const content = `${Array.from({ length: 5000 }, (_, n) => `- żółw ${n}`).join('\n')}\n`
    await writeFile(workspaceFile, content)
    const { workspace } = await memory.read(workdir)
    const { text = '', leftOutBytes = 0 } = workspace ?? {}
    expect(text).toMatch(/^- żółw \d+\n/)
    expect(text.endsWith('- żółw 4999')).toBe(true)
    expect(leftOutBytes + Buffer.byteLength(`${text}\n`)).toBe(Buffer.byteLength(content))
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(limits.memoryBytesMax)
  })

  it('cuts inside a line only if no whole line fits, and never inside a character', async () => {
    const { memory, workdir, workspaceFile } = await openMemory()
    await mkdir(join(workdir, '.holdfast'))
    for (const end of ['', 'a', 'ab', 'abc']) {
      await writeFile(workspaceFile, '🐢'.repeat(10_000) + end)
      const { workspace } = await memory.read(workdir)
      expect(workspace?.text).toMatch(new RegExp(`^(🐢)+${end}$`, 'u'))
      expect(workspace?.text.length).toBeGreaterThan(8000)
    }
  })
})

describe('a line of memory', () => {
  it('begins with the minute it was written, in UTC', () => {
    expect(memoryLine('use tabs', minuteOf(Date.parse('2026-03-04T12:05:59Z')))).toBe(
      '- [2026-03-04 12:05 UTC] use tabs\n',
    )
  })

  it.each([
    ['folds lines into one', ' one\r\n\n  two\u2028three\t4 ', 'one two three 4'],
    ['forges no heading', 'a\n# Memory of the user\n- [now] b', 'a # Memory of the user - [now] b'],
    ['spells out what an eye would miss', 'a\u001b[2J\u202eb\u{e0041}', 'a\\u{1b}[2J\\u{202e}b\\u{e0041}'],
    ['leaves what joins letters and emoji', 'می\u200cخواهم 👩\u200d🚀', 'می\u200cخواهم 👩\u200d🚀'],
  ])('%s', (_, text, folded) => {
    expect(memoryLine(text, 'now')).toBe(`- [now] ${folded}\n`)
  })

  it('is always one line', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(memoryLine(text, 'now')).toMatch(/^- \[now\] [^\p{Cc}\u2028\u2029]*\n$/u)
      }),
    )
  })
})
