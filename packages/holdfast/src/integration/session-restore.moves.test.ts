import { execFileSync } from 'node:child_process'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openHoldfast } from '../open.ts'
import { openTestServer } from '../server/testing/test-server.ts'

let workdir = ''
beforeEach(() => {
  workdir = mkdtempSync(join(tmpdir(), 'holdfast-moves-'))
  writeFileSync(join(workdir, 'a.txt'), 'one\ntwo\n')
})
afterEach(() => rmSync(workdir, { recursive: true, force: true }))

const text = (path: string) => {
  const absolute = join(workdir, path)
  return existsSync(absolute) ? readFileSync(absolute, 'utf8') : null
}

async function openSession(...prompts: readonly string[]) {
  const environment = { HOLDFAST_HOME: join(workdir, '.home'), DEMO_PACE: '0', PATH: process.env['PATH'] }
  const holdfast = await openHoldfast({ store: 'memory:', environment, sandbox: 'off' })
  const session = await holdfast.startSession({ workdir, model: 'demo/agent', approvals: 'none' })
  for (const prompt of prompts) await session.prompt(prompt).text()
  const touched = async () =>
    (await session.touchedFiles()).map(({ path, from, action }) => [action, from ?? '', path].join(' ')).sort()
  return { holdfast, session, touched }
}

const whole = { message: 1 } as const

describe('a file that move_file moved', () => {
  it.each(['a.txt', 'b.txt'])('is one change, and comes back when %s is restored, also over HTTP', async (path) => {
    const { holdfast, session, touched } = await openSession('move a.txt => b.txt', 'edit b.txt: two => 2')
    expect(await touched()).toEqual(['renamed a.txt b.txt'])
    expect(await session.diffChanges({ path })).toEqual([
      {
        path: 'b.txt',
        from: 'a.txt',
        change: 'renamed',
        diff: 'rename from a.txt\nrename to b.txt\n--- a/a.txt\n+++ b/b.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n',
      },
    ])
    await using server = await openTestServer({ sessions: holdfast.handles })
    const listed = await server.call(`/v1/sessions/${session.id}/touched-files`)
    expect(await listed.json()).toMatchObject({ files: [{ path: 'b.txt', from: 'a.txt', action: 'renamed' }] })

    const { files, refused } = await session.previewRestore({ ...whole, paths: [path] })
    expect(refused).toEqual([])
    expect(files).toMatchObject([
      { path: 'a.txt', action: 'recreate', movedFrom: 'b.txt', diff: expect.stringContaining('rename to a.txt\n') },
      { path: 'b.txt', action: 'delete', movedTo: 'a.txt', diff: '' },
    ])
    expect(files[0]?.diff).toContain('--- a/b.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-2\n+two\n')
    const { restored } = await session.restoreFiles({ ...whole, paths: [path] })
    expect(restored).toEqual([
      { path: 'a.txt', action: 'recreate', movedFrom: 'b.txt' },
      { path: 'b.txt', action: 'delete', movedTo: 'a.txt' },
    ])
    expect([text('a.txt'), text('b.txt'), await touched()]).toEqual(['one\ntwo\n', null, []])
    const notices = (await session.messages()).flatMap((message) => (message.kind === 'notice' ? [message.text] : []))
    expect(notices).toEqual(['Files were put back: 1 moved back.'])

    await session.restoreFiles({ undo: true })
    expect([text('a.txt'), text('b.txt'), await touched()]).toEqual([null, 'one\n2\n', ['renamed a.txt b.txt']])
    await holdfast.close()
  })

  it('stays where it is if others made a file at its old path, and is not deleted', async () => {
    const { holdfast, session } = await openSession('move a.txt => b.txt')
    writeFileSync(join(workdir, 'a.txt'), 'theirs')
    const { restored, refused } = await session.restoreFiles({ ...whole, paths: ['b.txt'] })
    expect([restored, refused]).toMatchObject([[], [{ path: 'a.txt' }, { path: 'b.txt' }]])
    expect(refused[1]?.why).toBe('it belongs together with a.txt, which stays: changed by others since')
    expect([text('a.txt'), text('b.txt')]).toEqual(['theirs', 'one\ntwo\n'])
    await holdfast.close()
  })

  it('comes back at once from a chain of moves, and after it was deleted', async () => {
    const { holdfast, session, touched } = await openSession('move a.txt => b.txt', 'move b.txt => c.txt')
    expect(await touched()).toEqual(['renamed a.txt c.txt'])
    await session.prompt('delete c.txt').text()
    expect(await touched()).toEqual(['deleted  a.txt'])
    await session.restoreFiles({ ...whole, paths: ['c.txt'] })
    expect([text('a.txt'), text('b.txt'), text('c.txt')]).toEqual(['one\ntwo\n', null, null])
    expect(await touched()).toEqual([])
    await session.prompt('move a.txt => b.txt').text()
    await session.prompt('move b.txt => a.txt').text()
    expect([await touched(), await session.diffChanges()]).toEqual([[], []])
    await holdfast.close()
  })
})

function commitAll() {
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', ...args], { cwd: workdir })
  git('init', '-q', '--template=')
  writeFileSync(join(workdir, '.gitignore'), '.home\n')
  git('add', '.')
  git('commit', '-qm', 'First')
}

/** Every file and link of the workdir with its content. */
const tree = () =>
  readdirSync(workdir, { recursive: true, withFileTypes: true })
    .filter((one) => !one.isDirectory())
    .map((one) => relative(workdir, join(one.parentPath, one.name)))
    .filter((path) => !/^\.(?:git|home)/.test(path))
    .map((path) => {
      const absolute = join(workdir, path)
      return lstatSync(absolute).isSymbolicLink() ? `${path} -> ${readlinkSync(absolute)}` : `${path}: ${text(path)}`
    })
    .sort()

describe('files that a command moved', () => {
  beforeEach(() => {
    mkdirSync(join(workdir, 'd/e'), { recursive: true })
    writeFileSync(join(workdir, 'd/x'), 'x\n')
    writeFileSync(join(workdir, 'd/e/y'), 'y\n')
    symlinkSync('a.txt', join(workdir, 'ln'))
    commitAll()
  })

  it.each([
    ['a file into a folder of its name', 'mv a.txt t; mkdir a.txt; mv t a.txt/inner', ['renamed a.txt a.txt/inner']],
    [
      'a file deep into a folder of its name',
      'mv a.txt t; mkdir -p a.txt/b/c; mv t a.txt/b/c/inner; mv d/x a.txt/x',
      ['renamed a.txt a.txt/b/c/inner', 'renamed d/x a.txt/x'],
    ],
    ['a file to the name of its folder', 'mv d/x t; rm -r d; mv t d', ['deleted  d/e/y', 'renamed d/x d']],
    ['a link', 'mv ln ln2', ['renamed ln ln2']],
    [
      'nothing: another file has the name of a folder',
      'rm -r d; echo new > d',
      ['created  d', 'deleted  d/e/y', 'deleted  d/x'],
    ],
  ])('come back exactly: %s', async (_, command, changes) => {
    const before = tree()
    const { holdfast, session, touched } = await openSession(`run ${command}`)
    const after = tree()
    expect(await touched()).toEqual(changes)
    expect((await session.previewRestore(whole)).refused).toEqual([])
    expect((await session.restoreFiles(whole)).refused).toEqual([])
    expect([tree(), await touched()]).toEqual([before, []])
    expect((await session.restoreFiles({ undo: true })).refused).toEqual([])
    expect(tree()).toEqual(after)
    const [, name = ''] = (changes.at(-1) ?? '').split(' ').filter((one) => one !== '')
    await session.restoreFiles({ ...whole, paths: [name] })
    expect((await session.restoreFiles(whole)).refused).toEqual([])
    expect(tree()).toEqual(before)
    await holdfast.close()
  })

  it('stay where they are if others put a file into the folder: none of them is lost', async () => {
    const { holdfast, session } = await openSession('run mv a.txt t; mkdir a.txt; mv t a.txt/inner')
    writeFileSync(join(workdir, 'a.txt/theirs'), 'theirs\n')
    const after = tree()
    const { refused } = await session.restoreFiles(whole)
    expect(refused).toEqual([
      { path: 'a.txt', why: 'a folder is there now, with files that this session did not put there: a.txt/theirs' },
      { path: 'a.txt/inner', why: expect.stringContaining('it belongs together with a.txt, which stays: a folder is') },
    ])
    expect((await session.previewRestore(whole)).refused).toEqual(refused)
    expect(tree()).toEqual(after)
    await holdfast.close()
  })

  it('are not deleted if others made a file where a copied file was', async () => {
    const { holdfast, session } = await openSession('run cp a.txt copy', 'run rm a.txt')
    writeFileSync(join(workdir, 'a.txt'), 'theirs\n')
    const { refused } = await session.restoreFiles(whole)
    expect(refused.map(({ path }) => path).sort()).toEqual(['a.txt', 'copy'])
    expect([text('a.txt'), text('copy')]).toEqual(['theirs\n', 'one\ntwo\n'])
    await holdfast.close()
  })
})

describe('a folder and a file that a command moved', () => {
  it('are one change each: a folder, and a file over another; the restore and its undo are exact', async () => {
    mkdirSync(join(workdir, 'old/deep'), { recursive: true })
    for (const [path, content] of [
      ['old/x', 'same\n'],
      ['old/deep/y', 'same\n'],
      ['b.txt', 'b\n'],
    ] as const)
      writeFileSync(join(workdir, path), content)
    commitAll()
    const { holdfast, session, touched } = await openSession('run mv old new; mv a.txt b.txt')
    expect(await touched()).toEqual(['renamed a.txt b.txt', 'renamed old/deep/y new/deep/y', 'renamed old/x new/x'])
    expect((await session.diffChanges({ path: 'a.txt' }))[0]).toEqual({
      path: 'b.txt',
      from: 'a.txt',
      change: 'renamed',
      note: 'replaced the file that was there',
      diff: 'rename from a.txt\nrename to b.txt\n',
    })
    await session.restoreFiles({ ...whole, paths: ['a.txt', 'new/x'] })
    expect([text('a.txt'), text('b.txt'), text('old/x'), text('new/x')]).toEqual(['one\ntwo\n', 'b\n', 'same\n', null])
    expect(await touched()).toEqual(['renamed old/deep/y new/deep/y'])
    await session.restoreFiles({ undo: true })
    expect([text('a.txt'), text('b.txt'), text('old/x'), text('new/x')]).toEqual([null, 'one\ntwo\n', null, 'same\n'])
    await session.restoreFiles(whole)
    expect([text('a.txt'), text('b.txt'), text('old/deep/y'), text('new/deep/y')]).toEqual([
      ...['one\ntwo\n', 'b\n', 'same\n', null],
    ])
    await holdfast.close()
  })
})
