import { mkdir, mkdtemp, readdir, realpath, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import type { Session } from '@holdfast/client'
import { limits, orThrow } from '@holdfast/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Holdfast } from '../holdfast.ts'
import { type OpenOptions, openHoldfast } from '../open.ts'

let home = ''
let holdfast: Holdfast

const open = (options: OpenOptions = {}) =>
  openHoldfast({ environment: { HOLDFAST_HOME: home, DEMO_PACE: '0' }, ...options })

beforeEach(async () => {
  home = await realpath(await mkdtemp(join(tmpdir(), 'holdfast-keeping-')))
  holdfast = await open()
})
afterEach(async () => {
  await holdfast.close()
  await rm(home, { recursive: true, force: true })
})

/** Sends a prompt, waits for the end of its turn, and returns the tool results. */
async function ask(session: Session, content: Parameters<Session['sendPrompt']>[0]): Promise<string> {
  for await (const frame of session.subscribe()) {
    if (frame.type === 'snapshot') await session.sendPrompt(content)
    if (frame.type === 'record' && frame.record.event.type === 'turn.ended') break
  }
  const last = (await session.messages()).findLast(({ kind }) => kind === 'assistant')
  return last?.kind === 'assistant' ? last.text : ''
}

async function spoken(prompt = 'hello', workdir = home): Promise<Session> {
  const session = await holdfast.startSession({ workdir, model: 'demo/agent' })
  await ask(session, prompt)
  return session
}

/** Returns each version of the instructions that the model got. */
async function systemTexts(id: string): Promise<readonly string[]> {
  const handle = orThrow(await holdfast.handles.open(id))
  const { seq: head } = orThrow(await handle.snapshot())
  const texts: string[] = []
  for await (const frame of handle.subscribe({ after: 0 })) {
    if (frame.type !== 'record') continue
    const { event, seq } = frame.record
    if (event.type === 'context.changed') {
      let text = ''
      for await (const chunk of orThrow(await handle.blob(event.system))) text += Buffer.from(chunk).toString()
      texts.push(text)
    }
    if (seq === head) break
  }
  return texts
}

const idsIn = async () => (await holdfast.list()).sessions.map(({ id }) => id)
const idsOf = ({ sessions }: Awaited<ReturnType<Holdfast['trash']>>) => sessions.map(({ id }) => id)
const tomorrow = () => new Date(Date.now() + 24 * 3_600_000)

describe('all sessions', () => {
  it('are listed one by one, with the filters of a list', async () => {
    const [one, two] = [await spoken('one'), await spoken('two')]
    await one.pinSession()
    const ids = async (options?: Parameters<Holdfast['sessions']>[0]) => {
      const found: string[] = []
      for await (const { id } of holdfast.sessions(options)) found.push(id)
      return found
    }
    expect(await ids()).toEqual([one.id, two.id])
    expect(await ids({ pinned: false })).toEqual([two.id])
    expect(await ids({ workspace: '/elsewhere' })).toEqual([])
  })
})

describe('session admin', () => {
  it('finds the sessions of a workspace however its path is written', async () => {
    const workdir = join(home, 'work')
    await mkdir(workdir)
    await symlink(workdir, join(home, 'link'))
    const { id } = await spoken('the old lighthouse', workdir)
    const written = [workdir, `${workdir}/`, join(home, 'link'), `${home}/./work`, relative(process.cwd(), workdir)]
    for (const workspace of written) {
      expect(idsOf(await holdfast.list({ workspace })), workspace).toEqual([id])
      const { hits } = await holdfast.search('lighthouse', { workspace })
      expect(new Set(hits.map(({ sessionId }) => sessionId)), workspace).toEqual(new Set([id]))
      expect((await holdfast.clearAll({ workspace, dryRun: true })).count, workspace).toBe(1)
      expect((await holdfast.prune({ before: tomorrow() }, { workspace, dryRun: true })).count, workspace).toBe(1)
    }
    await holdfast.delete(id)
    for (const workspace of written) expect(idsOf(await holdfast.trash({ workspace })), workspace).toEqual([id])
    await holdfast.restore(id)
    await rm(workdir, { recursive: true })
    expect(idsOf(await holdfast.list({ workspace: `${workdir}/` }))).toEqual([id])
  })

  it('moves a session to the trash, restores it and deletes it permanently', async () => {
    const session = await spoken()
    expect(await holdfast.delete(session.id)).toMatchObject({ count: 1, dryRun: false })
    expect([await idsIn(), idsOf(await holdfast.trash())]).toEqual([[], [session.id]])
    await expect(holdfast.getSession(session.id)).rejects.toMatchObject({ code: 'session_trashed' })
    expect((await holdfast.restore(session.id)).id).toBe(session.id)
    expect(await idsIn()).toEqual([session.id])
    await holdfast.delete(session.id)
    expect(await holdfast.emptyTrash()).toMatchObject({ count: 1 })
    expect(idsOf(await holdfast.trash())).toEqual([])
    await expect(holdfast.restore(session.id)).rejects.toMatchObject({ code: 'session_not_found' })
  })

  it('deletes one session permanently, in the trash or not, and no other', async () => {
    const [first, second, kept] = [await spoken('one'), await spoken('two'), await spoken('three')]
    await holdfast.delete(second.id)
    expect(await holdfast.purge(first.id, { dryRun: true })).toMatchObject({ count: 1, dryRun: true })
    expect(await holdfast.purge(first.id)).toMatchObject({ count: 1, gone: [{ id: first.id }], dryRun: false })
    expect(await holdfast.purge(second.id)).toMatchObject({ count: 1, gone: [{ id: second.id }] })
    expect([await idsIn(), idsOf(await holdfast.trash())]).toEqual([[kept.id], []])
    await expect(holdfast.restore(first.id)).rejects.toMatchObject({ code: 'session_not_found' })
    await expect(holdfast.purge(first.id)).rejects.toMatchObject({ code: 'session_not_found' })
  })

  it('deletes a session in use permanently only with force', async () => {
    const session = await spoken()
    await using _seat = await session.attach({ client: 'anna' })
    await expect(holdfast.purge(session.id)).rejects.toMatchObject({ code: 'session_in_use' })
    expect(await holdfast.purge(session.id, { force: true })).toMatchObject({ count: 1 })
    expect([await idsIn(), idsOf(await holdfast.trash())]).toEqual([[], []])
  })

  it('clears also pinned and attached sessions with force', async () => {
    const [pinned, attached] = [await spoken(), await spoken()]
    await pinned.pinSession()
    await using _seat = await attached.attach({ client: 'anna' })
    const stays = await holdfast.clearAll()
    expect(stays).toMatchObject({ count: 0 })
    expect(new Set(stays.stayed.map(({ reason }) => reason))).toEqual(new Set(['pinned', 'attached']))
    expect(await holdfast.clearAll({ force: true })).toMatchObject({ count: 2, stayed: [] })
    expect(await idsIn()).toEqual([])
    expect(new Set(idsOf(await holdfast.trash()))).toEqual(new Set([pinned.id, attached.id]))
  })

  it('does not reuse the key of a session in the trash', async () => {
    const session = await holdfast.getOrCreate('job-1', { workdir: home, model: 'demo/agent' })
    await ask(session, 'hello')
    await holdfast.delete(session.id)
    await expect(holdfast.getOrCreate('job-1', { workdir: home })).rejects.toMatchObject({ code: 'session_trashed' })
    await holdfast.restore(session.id)
    expect((await holdfast.getOrCreate('job-1')).id).toBe(session.id)
  })

  it('prunes by days or date, and clears all, except pinned sessions', async () => {
    const session = await spoken()
    const pinned = await spoken()
    expect(await holdfast.pinSession(pinned.id)).toMatchObject({ pinned: true })
    expect(await holdfast.prune(1)).toMatchObject({ count: 0, stayed: [] })
    const stays = { stayed: [{ id: pinned.id, reason: 'pinned' }] }
    expect(await holdfast.cleanupOlderThan(tomorrow(), { dryRun: true })).toMatchObject({ count: 1, ...stays })
    expect(await idsIn()).toEqual([pinned.id, session.id])
    expect(await holdfast.prune({ before: tomorrow() })).toMatchObject({ count: 1, ...stays })
    await holdfast.restore(session.id)
    expect(await holdfast.clearAll({ workspace: '/elsewhere' })).toMatchObject({ count: 0, stayed: [] })
    expect(await holdfast.clearAll()).toMatchObject({ count: 1, ...stays })
    expect(await holdfast.pinSession(pinned.id)).toMatchObject({ pinned: false })
    expect(await holdfast.clearAll()).toMatchObject({ count: 1, stayed: [] })
  })

  it('accepts a date, and a time with an offset', async () => {
    await spoken('the old lighthouse')
    const [year] = new Date().toISOString().split('-')
    const [before, after] = [`${Number(year) - 1}-01-31`, `${Number(year) + 1}-01-31`]
    const late = `${after}T12:00:00+02:00`
    for (const time of [after, late]) {
      expect((await holdfast.cleanupOlderThan(time, { dryRun: true })).count, time).toBe(1)
      expect((await holdfast.prune({ before: time }, { dryRun: true })).count, time).toBe(1)
      expect((await holdfast.list({ activeBefore: time })).sessions.length, time).toBe(1)
      expect((await holdfast.list({ activeFrom: time })).sessions, time).toEqual([])
      expect((await holdfast.search('lighthouse', { until: time })).hits.length, time).toBeGreaterThan(0)
      expect((await holdfast.search('lighthouse', { since: time })).hits, time).toEqual([])
      expect((await holdfast.emptyTrash({ before: time, dryRun: true })).count, time).toBe(0)
    }
    expect((await holdfast.cleanupOlderThan(before, { dryRun: true })).count).toBe(0)
  })

  it('rejects an invalid date', async () => {
    await expect(holdfast.cleanupOlderThan(new Date('never'))).rejects.toMatchObject({ code: 'bad_request' })
  })

  it.each([-1, Number.NaN, Number.POSITIVE_INFINITY, 365_001, '30', null, undefined, { before: null }])(
    'refuses %j as an age, and takes nothing',
    async (age) => {
      const session = await spoken()
      const given = age as number // as an untyped program would pass it
      await expect(holdfast.prune(given)).rejects.toMatchObject({ name: 'HoldfastError', code: 'bad_request' })
      expect(await idsIn()).toEqual([session.id])
    },
  )

  it.each([undefined, null, 7, {}])('rejects %j as a name', async (name) => {
    const given = name as string // as an untyped program would pass it
    await expect(holdfast.delete(given)).rejects.toMatchObject({ name: 'HoldfastError', code: 'bad_id' })
    await expect(holdfast.restore(given)).rejects.toMatchObject({ name: 'HoldfastError', code: 'bad_id' })
  })

  it('rejects an unknown export format and lists the known ones', async () => {
    const session = await spoken()
    const format = 'exe' as 'md' // as an untyped program would pass it
    await expect(Array.fromAsync(holdfast.export(session.id, { format }))).rejects.toMatchObject({
      code: 'bad_request',
      message: 'Cannot export: format: give md, html, json or jsonl.',
    })
  })

  it('sets a title, and resets it to the first line', async () => {
    const session = await spoken('hello\nand more')
    const title = async () => (await holdfast.list()).sessions[0]?.title
    expect(await title()).toBe('hello')
    await holdfast.rename(session.id, 'Harbour works')
    expect(await title()).toBe('Harbour works')
    await holdfast.rename(session.id, '')
    expect(await title()).toBe('hello')
    await expect(holdfast.rename(session.id, 'two\nlines')).rejects.toMatchObject({ code: 'bad_request' })
  })

  it('stores titles and pins', async () => {
    const session = await spoken()
    await holdfast.rename(session.id, 'Harbour works')
    await holdfast.pinSession(session.id, true)
    await holdfast.close()
    holdfast = await open()
    expect((await holdfast.list()).sessions).toMatchObject([{ id: session.id, title: 'Harbour works', pinned: true }])
  })

  it('finds the session with the latest message, even if others are pinned', async () => {
    const pinned = await spoken()
    const last = await spoken()
    await holdfast.pinSession(pinned.id)
    expect((await holdfast.latest(home))?.id).toBe(last.id)
  })

  it('stores nothing of a session without messages', async () => {
    const silent = await holdfast.startSession({ workdir: home, model: 'demo/agent' })
    await holdfast.stopSession(silent.id)
    expect([await idsIn(), idsOf(await holdfast.trash())]).toEqual([[], []])
    await expect(holdfast.getSession(silent.id)).rejects.toMatchObject({ code: 'session_not_found' })
  })

  it('moves old sessions to the trash only with the option retention', async () => {
    const session = await spoken()
    await holdfast.close()
    const pruned = Promise.withResolvers<number>()
    const retention = { days: 1e-9, onPruned: ({ count }: { readonly count: number }) => pruned.resolve(count) }
    holdfast = await open({ retention })
    expect(await pruned.promise).toBe(1)
    expect(idsOf(await holdfast.trash())).toEqual([session.id])
  })

  it.each([0, -1, Number.NaN])('rejects a retention of %s days', async (days) => {
    await expect(open({ retention: { days } })).rejects.toMatchObject({ code: 'bad_request' })
  })
})

describe('a session with a moved folder', () => {
  it('uses the new folder from its next step on, and informs the model', async () => {
    const [from, to] = [join(home, 'from'), join(home, 'to')]
    await mkdir(from)
    await writeFile(join(from, 'harbour.txt'), 'ships')
    const session = await spoken('list', from)
    await rename(from, to)
    await symlink(to, join(home, 'link'))
    await session.moveWorkdir(join(home, 'link'))
    expect(await session.metadata()).toMatchObject({ workspace: to })
    expect((await holdfast.list({ workspace: to })).sessions.map(({ id }) => id)).toEqual([session.id])
    expect((await holdfast.list({ workspace: from })).sessions).toEqual([])
    expect(await ask(session, 'read harbour.txt')).toContain('ships')
    const texts = await systemTexts(session.id)
    expect(texts.map((text) => [text.includes(from), text.includes(to)])).toEqual([
      [true, false],
      [false, true],
    ])
  })

  it('loses the trust of its old folder', async () => {
    const to = join(home, 'to')
    await mkdir(to)
    const session = await spoken()
    await session.setToolTrust('write_file', 'workspace')
    await session.setToolTrust('edit_file', 'session')
    expect(await session.listToolTrust()).toHaveLength(2)
    await session.moveWorkdir(to)
    expect(await session.listToolTrust()).toEqual([{ tool: 'edit_file', scope: 'session' }])
  })

  it('stays if the folder does not exist', async () => {
    const session = await spoken()
    await expect(session.moveWorkdir(join(home, 'nowhere'))).rejects.toMatchObject({ code: 'bad_workdir' })
    expect(await session.metadata()).toMatchObject({ workspace: home })
  })
})

describe.each(['sqlite', 'jsonl'])('the trash of a %s store', (kind) => {
  it('can be emptied concurrently, and its unshared files are removed', async () => {
    const problems: unknown[] = []
    const store = join(home, kind)
    await using own = await open({
      store: `${kind}:${store}`,
      onProblem: (problem) => void problems.push(problem),
    })
    const sessions = await Promise.all(
      Array.from({ length: 12 }, async (_, number) => {
        const session = await own.startSession({ workdir: home, model: 'demo/agent' })
        const { file } = await own.storeFile(Buffer.from(`note ${number}`), { name: `${number}.txt` })
        await ask(session, [{ type: 'text', text: 'hello' }, file])
        return session.id
      }),
    )
    const files = async () =>
      (await readdir(home, { recursive: true, withFileTypes: true })).filter(
        ({ name, parentPath }) => /^[0-9a-f]{62,64}$/.test(name) && parentPath.includes('blobs'),
      )
    const old = new Date(Date.now() - 2 * limits.blobGraceMs)
    for (const { parentPath, name } of await files()) await utimes(join(parentPath, name), old, old)
    for (const id of sessions) await own.delete(id, { force: true })
    const removed = await Promise.all(Array.from({ length: 5 }, () => own.emptyTrash()))
    expect(removed.reduce((sum, { count }) => sum + count, 0)).toBe(sessions.length)
    expect((await files()).every(({ parentPath }) => parentPath.endsWith('aside'))).toBe(true)
    expect(problems).toEqual([])
  })
})
