import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Session } from '@holdfast/client'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Holdfast } from '../holdfast.ts'
import { openHoldfast } from '../open.ts'
import { registerKey } from '../system/secrets/known-keys.ts'

let workdir = ''
beforeEach(() => {
  workdir = mkdtempSync(join(tmpdir(), 'holdfast-boundaries-'))
  writeFileSync(join(workdir, 'a.ts'), 'one\ntwo\nthree\n')
  symlinkSync('a.ts', join(workdir, 'link.ts'))
})
afterEach(() => rmSync(workdir, { recursive: true, force: true }))

const openSession = async () => {
  const environment = { HOLDFAST_HOME: join(workdir, '.home'), DEMO_PACE: '0', PATH: process.env['PATH'] }
  const holdfast = await openHoldfast({ store: 'memory:', environment, sandbox: 'off' })
  const session = await holdfast.startSession({ workdir, model: 'demo/agent', approvals: 'none' })
  return { holdfast, session }
}

const callsOf = async (session: Session) =>
  (await session.messages()).flatMap((message) => (message.kind === 'tool_call' ? [message.call] : []))

describe('the edit boundaries of a session', () => {
  it('are set, read and cleared by any spelling of the path', async () => {
    const { holdfast, session } = await openSession()
    const boundary = { path: 'a.ts', start: 1, end: 2 }
    expect(await session.setBoundary('./link.ts', 1, 2)).toMatchObject(boundary)
    expect(await session.boundaries()).toEqual([boundary])
    expect(await session.boundaryFor('a.ts')).toEqual({ start: 1, end: 2 })
    expect(await session.boundaryFor(join(workdir, 'sub/../a.ts'))).toEqual({ start: 1, end: 2 })
    expect(await session.boundaryFor('b.ts')).toBeNull()
    await session.clearBoundary(join(workdir, 'link.ts'))
    expect(await session.boundaryFor('a.ts')).toBeNull()
    await session.setBoundary('a.ts', 0, 0)
    await session.clearAllBoundaries()
    expect(await session.boundaries()).toEqual([])
    await holdfast.close()
  })

  it('stay where they are if the file has a key that is broken into lines', async () => {
    const { holdfast, session } = await openSession()
    registerKey('sk-boundary-0123456789abcdef')
    const lines = ['sk-boundary-01234', '56789abcdef', ...Array.from({ length: 8 }, (_, index) => `line ${index + 2}`)]
    writeFileSync(join(workdir, 'a.ts'), `${lines.join('\n')}\n`)
    await session.setBoundary('a.ts', 4, 6)
    for (const line of [5, 4, 6]) {
      await session.prompt('read a.ts').result()
      await session.prompt(`edit a.ts: line ${line} => changed ${line}`).result()
    }
    expect(await session.boundaries()).toEqual([{ path: 'a.ts', start: 4, end: 6 }])
    expect(readFileSync(join(workdir, 'a.ts'), 'utf8')).toContain('changed 4\nchanged 5\nchanged 6\nline 7')
    await holdfast.close()
  })

  it('are refused for wrong lines and for files that do not exist or are outside', async () => {
    const { holdfast, session } = await openSession()
    for (const [path, start, end] of [
      ['a.ts', 2, 1],
      ['a.ts', -1, 1],
      ['a.ts', 1, 3],
      ['nowhere.ts', 0, 1],
      ['.', 0, 1],
      ['../a.ts', 0, 1],
    ] as const)
      await expect(session.setBoundary(path, start, end)).rejects.toMatchObject({ code: 'bad_boundary' })
    await expect(session.setBoundary('a.ts', 1, 3)).rejects.toThrow(
      /^a\.ts has 3 lines: lines 2–4 are past its end\. Lines are counted from 1 here, and from 0 in start and end of setBoundary\.$/,
    )
    await expect(session.setBoundary('a.ts', 3, 3)).rejects.toThrow('a.ts has 3 lines: line 4 is past its end.')
    await expect(session.setBoundary('a.ts', 2, 1)).rejects.toThrow('No edit boundary can be lines 3 to 2')
    await expect(session.readFile('a.ts', { start: 3 })).rejects.toThrow('a.ts has 3 lines: line 4 is past its end.')
    expect(await session.boundaries()).toEqual([])
    await holdfast.close()
  })

  it('deny edits outside of them, also of a file that is deleted, moved or written whole', async () => {
    const { holdfast, session } = await openSession()
    await session.setBoundary('a.ts', 1, 1)
    const [file, before] = [join(workdir, 'a.ts'), readFileSync(join(workdir, 'a.ts'), 'utf8')]
    writeFileSync(join(workdir, 'b.ts'), 'other\n')
    const edits = ['edit a.ts: one => 1', 'edit link.ts: three => 3', 'write a.ts: one']
    const spelled = ['edit .//a.ts/.: one => 1', `edit ${file}: one => 1`]
    const several = ['edits a.ts: two => 2; three => 3', 'patch a.ts: three => 3']
    const removing = ['delete a.ts', 'move a.ts => c.ts', 'move b.ts => a.ts']
    for (const prompt of ['read a.ts', ...edits, ...spelled, ...several, ...removing]) {
      await session.prompt(prompt).text()
      expect([prompt, readFileSync(file, 'utf8')]).toEqual([prompt, before])
    }
    const outcomes = (await session.messages()).flatMap((message) =>
      message.kind === 'tool_call' ? [[message.call.status, message.call.result?.text.split('\n')[0]]] : [],
    )
    expect(outcomes.slice(1)).toEqual([
      ['denied', 'outside_boundary: edit outside boundary: it touches line 1 of a.ts, allowed are line 2'],
      ['denied', 'outside_boundary: edit outside boundary: it touches line 3 of a.ts, allowed are line 2'],
      ...Array(3).fill(['denied', expect.stringMatching(/^outside_boundary: edit outside boundary/)]),
      ['denied', 'outside_boundary: edit outside boundary: it touches line 3 of a.ts, allowed are line 2'],
      ['denied', 'outside_boundary: edit outside boundary: it touches line 3 of a.ts, allowed are line 2'],
      ...Array(3).fill([
        'denied',
        'outside_boundary: a.ts has an edit boundary, so it may not be deleted, renamed or replaced',
      ]),
    ])
    expect(readdirSync(workdir).sort()).toEqual(['.home', 'a.ts', 'b.ts', 'link.ts'])
    await holdfast.close()
  })

  it('judge each of several edits by the range that the edits before it left', async () => {
    const { holdfast, session } = await openSession()
    const file = join(workdir, 'a.ts')
    await session.setBoundary('a.ts', 1, 1)
    const edit = (old_text: string, new_text: string) => ({ old_text, new_text })
    const send = async (tool: string, args: object) => {
      await session.prompt('read a.ts').text()
      await session.prompt(`call ${tool} ${JSON.stringify({ path: 'a.ts', ...args })}`).text()
      return [(await callsOf(session)).at(-1)?.status, readFileSync(file, 'utf8')]
    }
    // The second one is inside only because the first one grew the range.
    const grown = [edit('two', 'two\n2b\n2c'), edit('2c', 'II')]
    expect(await send('multi_edit_file', { edits: grown })).toEqual(['complete', 'one\ntwo\n2b\nII\nthree\n'])
    expect(await session.boundaryFor('a.ts')).toEqual({ start: 1, end: 3 })
    // The first one shrinks it: line 4, which was in the range, is outside then, and none of them is done.
    const shrunk = [edit('2b\nII\n', ''), edit('three', '3')]
    expect(await send('multi_edit_file', { edits: shrunk })).toEqual(['denied', 'one\ntwo\n2b\nII\nthree\n'])
    const hunks = '@@\n one\n-two\n+2\n+2a\n@@\n-II\n+ii\n'
    expect(await send('apply_diff', { diff: hunks })).toEqual(['complete', 'one\n2\n2a\n2b\nii\nthree\n'])
    expect(await session.boundaryFor('a.ts')).toEqual({ start: 1, end: 4 })
    const outside = '@@\n-2a\n@@\n ii\n-three\n+3\n'
    expect(await send('apply_diff', { diff: outside })).toEqual(['denied', 'one\n2\n2a\n2b\nii\nthree\n'])
    await holdfast.close()
  })

  it('hold for subagents too, from their start', async () => {
    const { holdfast, session } = await openSession()
    await session.setBoundary('a.ts', 1, 1)
    await session.prompt('delegate edit a.ts: one => 1').text()
    expect(readFileSync(join(workdir, 'a.ts'), 'utf8')).toBe('one\ntwo\nthree\n')
    const [child] = await session.subagents()
    const started = await holdfast.getSession(child?.id ?? session.id)
    expect(await started.boundaries()).toEqual([{ path: 'a.ts', start: 1, end: 1 }])
    const [refused] = await callsOf(started)
    expect([refused?.status, refused?.result?.text]).toEqual(['denied', expect.stringMatching(/^outside_boundary: /)])
    await session.prompt('delegate edit a.ts: two => 2').text()
    expect(readFileSync(join(workdir, 'a.ts'), 'utf8')).toBe('one\n2\nthree\n')
    await holdfast.close()
  })

  it('fail a commit whose hook changed other lines, and record what was there', async () => {
    const git = (...words: readonly string[]) => execFileSync('git', words, { cwd: workdir })
    git('init', '-q', '--template=')
    for (const setting of ['user.name=Ada', 'user.email=ada@example.org']) git('config', ...setting.split('='))
    mkdirSync(join(workdir, '.git/hooks'))
    writeFileSync(join(workdir, '.git/hooks/pre-commit'), '#!/bin/sh\nsed -i s/three/3/ a.ts\n', { mode: 0o755 })
    git('add', 'a.ts')
    const { holdfast, session } = await openSession()
    await session.setBoundary('a.ts', 1, 1)
    await session.prompt('git commit Begin').text()
    const [commit] = await callsOf(session)
    expect(commit?.status).toBe('error')
    expect(commit?.result?.text).toContain('edit outside boundary: it touches line 3 of a.ts, allowed are line 2')
    expect(commit?.files).toMatchObject([{ path: 'a.ts', change: 'modified', outside: true }])
    const [call] = (await session.messages()).filter(({ kind }) => kind === 'tool_call')
    await session.restoreFiles({ call: call?.id, paths: ['a.ts'] })
    expect(readFileSync(join(workdir, 'a.ts'), 'utf8')).toBe('one\ntwo\nthree\n')
    await holdfast.close()
  })

  it('grow with edits inside them, and follow changes by others', async () => {
    const { holdfast, session } = await openSession()
    await session.setBoundary('a.ts', 1, 1)
    await session.prompt('edit a.ts: two => 2').text()
    expect(readFileSync(join(workdir, 'a.ts'), 'utf8')).toBe('one\n2\nthree\n')
    writeFileSync(join(workdir, 'a.ts'), 'zero\none\n2\nthree\n')
    await session.prompt('edit a.ts: 2 => zwei').text()
    expect(await session.boundaryFor('a.ts')).toEqual({ start: 2, end: 2 })
    writeFileSync(join(workdir, 'a.ts'), 'zero\nsomething else\nthree\n')
    await session.prompt('edit a.ts: something => nothing').text()
    expect(readFileSync(join(workdir, 'a.ts'), 'utf8')).toBe('zero\nsomething else\nthree\n')
    await holdfast.close()
  })

  it('are listed with the lines that they have now, and say why nothing may be changed', async () => {
    const { holdfast, session } = await openSession()
    const file = join(workdir, 'a.ts')
    await session.setBoundary('a.ts', 1, 1)
    writeFileSync(file, 'zero\none\ntwo\nthree\n')
    expect(await session.boundaries()).toEqual([{ path: 'a.ts', start: 2, end: 2 }])
    expect(await session.boundaryFor('a.ts')).toEqual({ start: 2, end: 2 })
    writeFileSync(file, 'one\ntwo\nthree\n')
    await session.prompt('edit a.ts: two => two\\n2').text()
    await session.restoreFiles({ turn: 0 })
    expect(await session.boundaries()).toEqual([{ path: 'a.ts', start: 1, end: 1 }])
    const why = async (change: () => void) => {
      change()
      const [listed] = await session.boundaries()
      return listed?.suspended
    }
    const edge = await why(() => writeFileSync(file, 'one\nsomething else\n'))
    expect(edge).toMatch(
      /^a\.ts has an edit boundary, and someone changed the file at its edge\. Nothing may be changed/,
    )
    expect(await why(() => writeFileSync(file, Buffer.from([0, 1, 2, 0])))).toMatch(
      /^a\.ts is no longer a text\. Nothing/,
    )
    expect(await why(() => rmSync(file))).toMatch(/^a\.ts is gone\. No tool may create it until a person puts it back/)
    expect(await why(() => symlinkSync('link.ts', file))).toMatch(/\. Nothing may be changed until/)
    await holdfast.close()
  })

  it('fail a command that changed other lines, with the diff, and record what was there', async () => {
    const { holdfast, session } = await openSession()
    await session.setBoundary('a.ts', 1, 1)
    chmodSync(join(workdir, 'a.ts'), 0o755)
    await session.prompt("run sed -i 's/two/2/' a.ts").text()
    await session.prompt("run sed -i 's/three/3/' a.ts").text()
    await session.prompt('run rm a.ts').text()
    const calls = (await session.messages()).flatMap((message) => (message.kind === 'tool_call' ? [message.call] : []))
    expect(calls.map(({ status }) => status)).toEqual(['complete', 'error', 'error'])
    expect(calls[1]?.result?.text).toContain('edit outside boundary: it touches line 3 of a.ts, allowed are line 2')
    expect(calls[1]?.result?.text).toContain('-three\n+3\n')
    expect(calls[1]?.result?.text).toContain('What was changed is in the files. A person can put them back')
    expect(calls[2]?.result?.text).toContain('a.ts is gone')
    const [gone] = await Array.fromAsync(session.fileChanges())
    expect(gone?.before).toMatchObject({ type: 'file', mode: 0o755 })
    const before = gone?.before?.type === 'file' ? await session.blob(gone.before.hash) : []
    expect(Buffer.concat(await Array.fromAsync(before)).toString()).toBe('one\n2\n3\n')
    await holdfast.close()
  })

  it.each([
    ['the file', 'mv d/e.ts d/f.ts; ln -s f.ts d/e.ts', 'd/f.ts'],
    ['a folder above it', 'mv d g; ln -s g d', 'g/e.ts'],
  ])('fail a command that puts a link in the place of %s, and hold until they are set again', async (_, swap, real) => {
    mkdirSync(join(workdir, 'd'))
    writeFileSync(join(workdir, 'd/e.ts'), 'one\ntwo\nthree\n')
    const { holdfast, session } = await openSession()
    await session.setBoundary('d/e.ts', 1, 1)
    await session.prompt(`run ${swap}`).text()
    for (const path of ['d/e.ts', real]) await session.prompt(`edit ${path}: two => 2`).text()
    const [swapped, ...edits] = await callsOf(session)
    expect([swapped?.status, swapped?.result?.text]).toEqual(['error', expect.stringContaining('d/e.ts was replaced')])
    expect(edits.map(({ status }) => status)).toEqual(['denied', 'denied'])
    expect(edits[1]?.result?.text).toContain('until a person sets the boundary of d/e.ts again')
    await session.setBoundary('d/e.ts', 1, 1)
    expect(await session.boundaries()).toEqual([{ path: real, start: 1, end: 1 }])
    await session.prompt('edit d/e.ts: one => 1').text()
    await session.prompt('edit d/e.ts: two => 2').text()
    expect(readFileSync(join(workdir, 'd/e.ts'), 'utf8')).toBe('one\n2\nthree\n')
    await holdfast.close()
  })

  it.each([
    ['the file', 'mv d/e.ts d/f.ts', 'd/f.ts'],
    ['a folder above it', 'mv d g', 'g/e.ts'],
    ['a copy, and removes the file', 'cp d/e.ts f.ts; rm d/e.ts', 'f.ts'],
  ])('fail a command that moves %s, and hold for its new name until a person decides', async (_, move, moved) => {
    mkdirSync(join(workdir, 'd'))
    writeFileSync(join(workdir, 'd/e.ts'), 'one\ntwo\nthree\n')
    const { holdfast, session } = await openSession()
    await session.setBoundary('d/e.ts', 1, 1)
    await session.prompt(`run ${move}`).text()
    await session.prompt(`edit ${moved}: three => 3`).text()
    await session.prompt(`delete ${moved}`).text()
    const [ran, ...refused] = await callsOf(session)
    expect([ran?.status, ran?.result?.text]).toEqual(['error', expect.stringContaining('d/e.ts is gone')])
    expect(refused.map(({ status }) => status)).toEqual(['denied', 'denied'])
    expect(refused[0]?.result?.text).toContain(`${moved} has the content of d/e.ts, which has an edit boundary`)
    expect(readFileSync(join(workdir, moved), 'utf8')).toBe('one\ntwo\nthree\n')
    await session.setBoundary(moved, 1, 1)
    await session.prompt(`edit ${moved}: three => 3`).text()
    await session.prompt(`edit ${moved}: two => 2`).text()
    expect(readFileSync(join(workdir, moved), 'utf8')).toBe('one\n2\nthree\n')
    await holdfast.close()
  })

  it('hold for a file in whose place a person puts a link, and can be cleared by its old path', async () => {
    const { holdfast, session } = await openSession()
    await session.setBoundary('a.ts', 1, 1)
    renameSync(join(workdir, 'a.ts'), join(workdir, 'b.ts'))
    symlinkSync('b.ts', join(workdir, 'a.ts'))
    await session.prompt('edit a.ts: three => 3').text()
    await session.prompt('edit b.ts: three => 3').text()
    expect(readFileSync(join(workdir, 'b.ts'), 'utf8')).toBe('one\ntwo\nthree\n')
    await session.clearBoundary('a.ts')
    expect(await session.boundaries()).toEqual([])
    await holdfast.close()
  })

  it('let a person put back a file in whose place a command has put a link', async () => {
    const { holdfast, session } = await openSession()
    await session.setBoundary('a.ts', 1, 1)
    await session.prompt('run cp a.ts b.ts; ln -sf b.ts a.ts').text()
    const [call] = (await session.messages()).filter(({ kind }) => kind === 'tool_call')
    await session.restoreFiles({ call: call?.id, paths: ['a.ts'] })
    expect(lstatSync(join(workdir, 'a.ts')).isFile()).toBe(true)
    await session.prompt('edit a.ts: two => 2').text()
    expect(readFileSync(join(workdir, 'a.ts'), 'utf8')).toBe('one\n2\nthree\n')
    await holdfast.close()
  })

  const outsideFiles = async (session: Session) =>
    (await session.messages()).flatMap((message) => (message.kind === 'tool_call' ? (message.call.files ?? []) : []))

  it.each([
    ['ends by itself', 'sed -i s/one/1/ a.ts', async () => undefined, /changed lines .*: it touches line 1 of a\.ts/],
    [
      'is stopped by a person',
      'sed -i s/one/1/ a.ts; sleep 1000',
      stopShell,
      /changed lines .*: it touches line 1 of a\.ts/,
    ],
    [
      'ends with its session', // of the lines only people are told then
      'sed -i s/one/1/ a.ts; sleep 1000',
      (session: Session, holdfast: Holdfast) => holdfast.stopSession(session.id),
      / has ended: its session, or the process that ran it, was stopped/,
    ],
  ])(
    'are compared when a command in the background %s, though no call reads its output',
    async (_, command, end, news) => {
      const { holdfast, session } = await openSession()
      await session.setBoundary('a.ts', 1, 1)
      await session.prompt(`run in background ${command}`).text()
      const file = join(workdir, 'a.ts')
      await expect.poll(() => readFileSync(file, 'utf8'), { timeout: 15_000 }).toBe('1\ntwo\nthree\n')
      await end(session, holdfast)
      const again = await holdfast.getSession(session.id)
      await expect
        .poll(() => outsideFiles(again), { timeout: 15_000 })
        .toEqual([{ path: 'a.ts', change: 'modified', outside: true }])
      const notices = (await again.messages()).filter(({ kind }) => kind === 'notice')
      expect(notices).toMatchObject([{ text: expect.stringContaining('-one\n+1\n') }])
      const call = (await again.messages()).find(({ kind }) => kind === 'tool_call')?.id
      await again.restoreFiles({ call, paths: ['a.ts'] })
      expect(readFileSync(file, 'utf8')).toBe('one\ntwo\nthree\n')
      await again.prompt('hello').text()
      const told = (await again.messages()).filter(
        (message) => message.kind === 'notice' && message.code === 'background',
      )
      expect(told).toMatchObject([{ text: expect.stringMatching(news) }])
      await holdfast.close()
    },
  )

  it.each([
    ['an edit inside them', (session: Session) => session.prompt('read a.ts\nedit a.ts: two => 2').text()],
    ['another command', (session: Session) => session.prompt('run sed -i s/two/2/ a.ts').text()],
    ['a new boundary', (session: Session) => session.setBoundary('a.ts', 0, 0)],
    ['the end of the boundary', (session: Session) => session.clearBoundary('a.ts')],
  ])('are compared before %s, so that it hides nothing that a running command did', async (_, change) => {
    const { holdfast, session } = await openSession()
    await session.setBoundary('a.ts', 1, 1)
    await session.prompt('run in background sed -i s/one/1/ a.ts; echo ready; exec sleep 1000').text()
    await expect.poll(async () => (await session.backgroundShells())[0]?.tail, { timeout: 15_000 }).toContain('ready')
    await change(session)
    const outside = (await outsideFiles(session)).filter((file) => file.outside)
    expect(outside).toEqual([{ path: 'a.ts', change: 'modified', outside: true }])
    const notices = (await session.messages()).filter(
      (message) => message.kind === 'notice' && message.code === 'outside_boundary',
    )
    expect(notices).toMatchObject([{ text: expect.stringContaining('-one\n+1\n') }])
    await stopShell(session)
    expect((await outsideFiles(session)).filter((file) => file.outside)).toEqual(outside) // found once
    await holdfast.close()
  })
})

it('puts back all that a command in the background did to bounded files, though it was found at two times', async () => {
  writeFileSync(join(workdir, 'b.ts'), 'one\ntwo\nthree\n')
  const { holdfast, session } = await openSession()
  for (const path of ['a.ts', 'b.ts']) await session.setBoundary(path, 1, 1)
  const command = 'sed -i s/one/1/ a.ts; echo ready; until [ -e go ]; do sleep 0.05; done; sed -i s/three/3/ b.ts'
  await session.prompt(`run in background ${command}`).text()
  await expect.poll(async () => (await session.backgroundShells())[0]?.tail, { timeout: 15_000 }).toContain('ready')
  await session.prompt('list').text()
  writeFileSync(join(workdir, 'go'), '')
  const outside = async () => (await callsOf(session)).flatMap(({ files = [] }) => files.map(({ path }) => path))
  await expect.poll(outside, { timeout: 15_000 }).toEqual(['a.ts', 'b.ts'])
  const [call] = (await session.messages()).filter(({ kind }) => kind === 'tool_call')
  expect((await session.diffChanges({ call: call?.id })).map(({ path }) => path)).toEqual(['a.ts', 'b.ts'])
  await session.restoreFiles({ call: call?.id })
  for (const path of ['a.ts', 'b.ts']) expect(readFileSync(join(workdir, path), 'utf8')).toBe('one\ntwo\nthree\n')
  await holdfast.close()
})

async function stopShell(session: Session): Promise<void> {
  const [shell] = await session.backgroundShells()
  await session.stopBackgroundShell(shell?.id ?? '')
}
