import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openHoldfast } from '../open.ts'
import { openTestServer } from '../server/testing/test-server.ts'

let workdir = ''
beforeEach(() => {
  workdir = mkdtempSync(join(tmpdir(), 'holdfast-restore-'))
  writeFileSync(join(workdir, 'old.sh'), 'one\ntwo\n')
  chmodSync(join(workdir, 'old.sh'), 0o755)
})
afterEach(() => rmSync(workdir, { recursive: true, force: true }))

const text = (path: string) => readFileSync(join(workdir, path), 'utf8')
const exists = (path: string) => existsSync(join(workdir, path))

const open = () => {
  const environment = { HOLDFAST_HOME: join(workdir, '.home'), DEMO_PACE: '0' }
  return openHoldfast({ store: 'memory:', environment })
}

/** Opens a session with four turns: they make a.txt, change a.txt, change old.sh, and make b.txt. */
async function openTurns() {
  const holdfast = await open()
  const session = await holdfast.startSession({ workdir, model: 'demo/agent', approvals: 'none' })
  for (const prompt of ['write a.txt: one', 'edit a.txt: one => two', 'edit old.sh: two => 2', 'write b.txt: new'])
    await session.prompt(prompt).text()
  expect([text('a.txt'), text('old.sh'), text('b.txt')]).toEqual(['two', 'one\n2\n', 'new'])
  return { holdfast, session }
}

describe('restoreFiles', () => {
  it('puts files back as they were at the end of a turn, shows that before, and undoes it', async () => {
    const { holdfast, session } = await openTurns()
    const preview = await session.previewRestore({ turn: 0 })
    expect(preview).toEqual({
      files: [
        { path: 'a.txt', action: 'restore', diff: expect.stringContaining('-two\n\\ No newline at end of file\n+one') },
        { path: 'old.sh', action: 'restore', diff: expect.stringContaining('-2\n+two\n') },
        { path: 'b.txt', action: 'delete', diff: expect.stringContaining('+++ /dev/null') },
      ],
      refused: [],
    })
    expect([text('a.txt'), text('old.sh'), text('b.txt')]).toEqual(['two', 'one\n2\n', 'new'])

    await expect(session.diffChanges({ path: 'a.text' })).rejects.toMatchObject({
      code: 'not_found',
      message: "This session did not change a.text. Did you mean 'a.txt'?",
    })
    expect((await session.diffChanges({ path: './a.txt' })).map(({ path }) => path)).toEqual(['a.txt'])
    const touched = async () => (await session.touchedFiles()).map(({ path, action }) => [path, action])
    const all = await touched()
    const { restored, refused } = await session.restoreFiles({ turn: 0 })
    expect(await touched()).toEqual([['a.txt', 'created']])
    expect(restored).toEqual(preview.files.map(({ path, action }) => ({ path, action })))
    expect(refused).toEqual([])
    expect([text('a.txt'), text('old.sh'), exists('b.txt')]).toEqual(['one', 'one\ntwo\n', false])
    expect(statSync(join(workdir, 'old.sh')).mode & 0o777).toBe(0o755)
    const notices = (await session.messages()).flatMap((message) => (message.kind === 'notice' ? [message.text] : []))
    expect(notices).toEqual(['Files were put back: 2 restored, 1 deleted.'])

    expect((await session.restoreFiles({ undo: true })).restored.map(({ action }) => action).sort()).toEqual([
      'recreate',
      'restore',
      'restore',
    ])
    expect([text('a.txt'), text('old.sh'), text('b.txt')]).toEqual(['two', 'one\n2\n', 'new'])
    expect(await touched()).toEqual(all)
    await session.restoreFiles({ undo: true })
    expect([text('a.txt'), exists('b.txt')]).toEqual(['one', false])
    await holdfast.close()
  })

  it('goes back before a message, before a call, and for some paths only', async () => {
    const { holdfast, session } = await openTurns()
    const [first] = await session.messages()
    const call = (await session.touchedFiles()).find(({ path }) => path === 'old.sh')?.callId ?? 0
    expect((await session.restoreFiles({ call })).restored).toEqual([{ path: 'old.sh', action: 'restore' }])
    expect([text('old.sh'), text('a.txt')]).toEqual(['one\ntwo\n', 'two'])
    const some = await session.restoreFiles({ message: first?.id ?? 0, paths: ['b.txt', 'never.txt'] })
    expect(some.restored).toEqual([{ path: 'b.txt', action: 'delete' }])
    expect(some.refused).toEqual([{ path: 'never.txt', why: 'this session did not change it' }])
    expect((await session.restoreFiles({ message: first?.id ?? 0 })).restored).toEqual([
      { path: 'a.txt', action: 'delete' },
    ])
    expect([exists('a.txt'), exists('b.txt'), text('old.sh')]).toEqual([false, false, 'one\ntwo\n'])
    await holdfast.close()
  })

  it('leaves alone what others changed since, by content, mode or kind', async () => {
    const { holdfast, session } = await openTurns()
    writeFileSync(join(workdir, 'a.txt'), 'theirs')
    chmodSync(join(workdir, 'old.sh'), 0o700)
    unlinkSync(join(workdir, 'b.txt'))
    symlinkSync('a.txt', join(workdir, 'b.txt'))
    const { restored, refused } = await session.restoreFiles({ turn: 0 })
    expect(restored).toEqual([])
    const why = 'changed by others since'
    const byPath = refused.toSorted((one, other) => (one.path < other.path ? -1 : 1)) // calls of one step settle in any order
    expect(byPath).toEqual(['a.txt', 'b.txt', 'old.sh'].map((path) => ({ path, why })))
    expect([text('a.txt'), text('old.sh')]).toEqual(['theirs', 'one\n2\n'])
    await holdfast.close()
  })

  it('gives no file the rights of its owner, and touches what other programs run only if it is named', async () => {
    chmodSync(join(workdir, 'old.sh'), 0o6755)
    mkdirSync(join(workdir, '.vscode'))
    writeFileSync(join(workdir, '.vscode/tasks.json'), 'theirs')
    const holdfast = await open()
    const session = await holdfast.startSession({ workdir, model: 'demo/agent', approvals: 'none' })
    await session.prompt('hello').text()
    const turn = session.prompt('edit .vscode/tasks.json: theirs => ours')
    for await (const item of turn) if (item.type === 'approval') await session.respondToApproval('approve')
    await session.prompt('edit old.sh: two => 2').text()
    expect([text('.vscode/tasks.json'), text('old.sh')]).toEqual(['ours', 'one\n2\n'])

    const { restored, refused } = await session.restoreFiles({ turn: 0 })
    expect(restored).toEqual([{ path: 'old.sh', action: 'restore' }])
    expect(statSync(join(workdir, 'old.sh')).mode & 0o7777).toBe(0o755)
    const why = '.vscode/tasks.json decides what other programs run; name it in paths to put it back'
    expect(refused).toEqual([{ path: '.vscode/tasks.json', why }])
    const named = await session.restoreFiles({ turn: 0, paths: ['.vscode/tasks.json'] })
    expect([named.restored.length, text('.vscode/tasks.json')]).toEqual([1, 'theirs'])
    await session.restoreFiles({ undo: true })
    expect(text('.vscode/tasks.json')).toBe('ours')
    await session.restoreFiles({ undo: true })
    expect(text('.vscode/tasks.json')).toBe('theirs')
    await expect(session.restoreFiles({ message: 1e9 })).rejects.toMatchObject({ code: 'message_not_found' })
    await holdfast.close()
  })

  it('is refused during a turn, without a finished turn, and without a restore to undo', async () => {
    const holdfast = await open()
    const session = await holdfast.startSession({ workdir, model: 'demo/agent' })
    await expect(session.restoreFiles({ undo: true })).rejects.toMatchObject({ code: 'nothing_to_undo' })
    await expect(session.restoreFiles({ turn: 3 })).rejects.toMatchObject({ code: 'turn_not_found' })
    await expect(session.previewRestore({ call: 3 })).rejects.toMatchObject({ code: 'message_not_found' })
    await expect(session.restoreFiles({ turn: 1, undo: true })).rejects.toMatchObject({ code: 'bad_request' })
    await session.sendPrompt('write a.txt: one')
    for await (const frame of session.subscribe())
      if (frame.type === 'record' && frame.record.event.type === 'approval.asked') break
    await expect(session.restoreFiles({ message: 1 })).rejects.toMatchObject({ code: 'turn_running' })
    await holdfast.close()
  })

  it('does not delete a file with an edit boundary, and answers a repeated command as before', async () => {
    const { holdfast, session } = await openTurns()
    await session.setBoundary('b.txt', 0, 0)
    const first = await session.restoreFiles({ turn: 0 }, { commandId: 'once' })
    expect(first.refused).toEqual([{ path: 'b.txt', why: 'it has an edit boundary; clear the boundary to delete it' }])
    writeFileSync(join(workdir, 'a.txt'), 'two')
    expect(await session.restoreFiles({ turn: 0 }, { commandId: 'once' })).toEqual(first)
    expect(text('a.txt')).toBe('two')
    await holdfast.close()
  })

  it('changes nothing of the folder that the session came from, nor for a fork', async () => {
    const { holdfast, session } = await openTurns()
    const { session: fork } = await session.fork()
    const forked = await holdfast.getSession(fork)
    expect(await forked.previewRestore({ turn: 0 })).toEqual({ files: [], refused: [] })
    const elsewhere = mkdtempSync(join(tmpdir(), 'holdfast-elsewhere-'))
    for (const path of ['a.txt', 'b.txt', 'old.sh']) writeFileSync(join(elsewhere, path), text(path))
    await session.moveWorkdir(elsewhere)
    expect(await session.restoreFiles({ turn: 0 })).toMatchObject({ restored: [], refused: [] })
    expect(readFileSync(join(elsewhere, 'a.txt'), 'utf8')).toBe('two')
    rmSync(elsewhere, { recursive: true })
    await holdfast.close()
  })
})

describe('rewind with files', () => {
  it('moves the messages and the files, also over HTTP', async () => {
    const { holdfast, session } = await openTurns()
    await using server = await openTestServer({ sessions: holdfast.handles })
    const previewed = await server.call(`/v1/sessions/${session.id}/restore-preview?turn=0&paths=["a.txt"]`)
    expect(await previewed.json()).toMatchObject({ files: [{ path: 'a.txt', action: 'restore' }], refused: [] })
    expect((await server.call(`/v1/sessions/${session.id}/restore-preview?turn=0&paths=a`)).status).toBe(400)
    expect(await session.rewind(0, { files: true })).toMatchObject({
      branch: 'branch-1',
      files: { restored: [{ path: 'a.txt' }, { path: 'old.sh' }, { path: 'b.txt' }], refused: [] },
    })
    expect([text('a.txt'), exists('b.txt')]).toEqual(['one', false])
    expect((await session.messages()).filter(({ kind }) => kind === 'user')).toHaveLength(1)
    const body = JSON.stringify({ type: 'restoreFiles', undo: true })
    const undone = await server.post(`/v1/sessions/${session.id}/commands`, body)
    expect(undone.status).toBe(202)
    expect(text('b.txt')).toBe('new')
    await holdfast.close()
  })
})

describe('diffChanges', () => {
  it('shows a session, a turn, a call and a path as one diff a file, also over HTTP', async () => {
    const { holdfast, session } = await openTurns()
    const all = await session.diffChanges()
    expect(all.map(({ path, change }) => [path, change])).toEqual([
      ['a.txt', 'created'],
      ['old.sh', 'modified'],
      ['b.txt', 'created'],
    ])
    expect(all[0]?.diff).toContain('--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1,1 @@\n+two\n')
    const [turn, ...others] = await session.diffChanges({ turn: 0 })
    expect([turn?.diff, others]).toEqual([expect.stringContaining('+one\n'), []]) // kept by the next change
    const call = (await session.touchedFiles()).find(({ path }) => path === 'old.sh')?.callId ?? 0
    expect(await session.diffChanges({ call })).toMatchObject([
      { path: 'old.sh', diff: expect.stringContaining('+2\n') },
    ])
    await using server = await openTestServer({ sessions: holdfast.handles })
    const answer = await server.call(`/v1/sessions/${session.id}/diff?path=b.txt`)
    expect(await answer.json()).toMatchObject({ files: [{ path: 'b.txt', change: 'created' }] })
    await expect(session.diffChanges({ turn: 9 })).rejects.toMatchObject({ code: 'turn_not_found' })
    await holdfast.close()
  })

  it('says what it cannot show, that others changed a file, and leaves out what is as before', async () => {
    const { holdfast, session } = await openTurns()
    writeFileSync(join(workdir, 'a.txt'), Buffer.from([0, 1, 2]))
    writeFileSync(join(workdir, 'b.txt'), 'theirs')
    await session.restoreFiles({ turn: 0, paths: ['old.sh'] })
    expect(await session.diffChanges()).toEqual([
      {
        path: 'a.txt',
        change: 'created',
        note: 'others changed it too',
        diff: 'a.txt: not shown, it is binary (no file -> 3 bytes)\n',
      },
      { path: 'b.txt', change: 'created', note: 'others changed it too', diff: expect.stringContaining('+theirs') },
    ])
    expect(await session.diffChanges({ turn: 3 })).toEqual([
      { path: 'b.txt', change: 'created', diff: '', note: expect.stringContaining('was not kept') },
    ])
    expect(JSON.stringify(await session.diffChanges({ recorded: true }))).not.toContain('theirs')
    // Who may only view does not see what others wrote to the disk since.
    await using server = await openTestServer({ sessions: holdfast.handles })
    const headers = { authorization: `Bearer ${server.tokens.viewer}` }
    for (const query of ['', '?recorded=false', '?path=b.txt']) {
      const seen = await server.call(`/v1/sessions/${session.id}/diff${query}`, { headers })
      expect([seen.status, (await seen.text()).includes('theirs')]).toEqual([200, false])
    }
    await holdfast.close()
  })
})
