import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Session } from '@holdfast/client'
import { HoldfastError } from '@holdfast/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Holdfast } from './holdfast.ts'
import { openHoldfast } from './open.ts'
import { findHome } from './system/home.ts'

describe('openHoldfast', () => {
  let home = ''
  let holdfast: Holdfast

  const environment = () => ({ HOLDFAST_HOME: home, DEMO_PACE: '0', PATH: process.env['PATH'] })
  const open = (store?: string) => openHoldfast({ environment: environment(), store })
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'holdfast-open-'))
    holdfast = await open()
  })
  afterEach(async () => {
    await holdfast.close()
    await rm(home, { recursive: true, force: true })
  })

  /** Waits for the end of the running turn. */
  async function rested(session: Session): Promise<void> {
    for await (const frame of session.subscribe({ after: 0 })) {
      if (frame.type === 'record' && frame.record.event.type === 'turn.ended') return
    }
  }

  it('opens the store it is given', async () => {
    const path = join(home, 'elsewhere.db')
    const other = await open(`sqlite:${path}`)
    await (await other.startSession({ workdir: home })).sendPrompt('list')
    await other.close()
    expect(existsSync(path)).toBe(true)
    expect((await holdfast.list()).sessions).toEqual([])
    await expect(open('mysql://nowhere')).rejects.toMatchObject({ code: 'bad_request' })
  })

  it('refuses an option it does not have, and names the nearest', async () => {
    const misspelt = { stoer: 'memory:' } as object
    await expect(openHoldfast(misspelt)).rejects.toMatchObject({
      code: 'bad_request',
      message: 'openHoldfast has no option "stoer". Did you mean \'store\'?',
    })
    await expect(openHoldfast({ wombat: 1 } as object)).rejects.toThrow('The options are store, ')
  })

  it('writes a plain file for each session, and locks the directory', async () => {
    const directory = join(home, 'logs')
    const first = await open(`jsonl:${directory}`)
    const session = await first.startSession({ workdir: home })
    await session.sendPrompt('list')
    await rested(session)
    await expect(open(`jsonl:${directory}`)).rejects.toMatchObject({ code: 'session_locked' })
    await first.close()
    const second = await open(`jsonl:${directory}`)
    const listed = await second.list()
    expect(listed.sessions.map(({ title }) => title)).toEqual(['list'])
    const messages = await (await second.getSession(session.id)).messages()
    await second.close()

    for (const name of await readdir(directory)) {
      if (!name.startsWith('ses_')) await rm(join(directory, name), { recursive: true })
    }
    const third = await open(`jsonl:${directory}`)
    expect(await third.list()).toEqual(listed)
    const again = await third.getSession(session.id)
    expect(await again.messages()).toEqual(messages)
    await again.sendPrompt('list')
    await third.close()
  })

  it('mirrors its store into plain files that can be opened as a store', async () => {
    const directory = join(home, 'mirror')
    const store = `sqlite:${join(home, 'other.db')}`
    const first = await openHoldfast({ environment: environment(), store, mirror: directory })
    const session = await first.startSession({ workdir: home })
    await session.sendPrompt('list')
    await rested(session)
    const messages = await session.messages()
    const listed = await first.list()
    await first.close()
    const second = await open(`jsonl:${directory}`)
    expect(await second.list()).toEqual(listed)
    expect(await (await second.getSession(session.id)).messages()).toEqual(messages)
    await second.close()
    await expect(
      openHoldfast({ environment: environment(), store: 'memory:', mirror: directory }),
    ).rejects.toMatchObject({
      code: 'bad_request',
    })
  })

  it('can hold a session in memory only', async () => {
    const memory = await open('memory:')
    const session = await memory.startSession({ workdir: home })
    await session.sendPrompt('list')
    await rested(session)
    expect((await memory.list()).sessions.map(({ title }) => title)).toEqual(['list'])
    await memory.close()
    expect((await holdfast.list()).sessions).toEqual([])
  })

  it('leaves nothing on disk of an unsaved session', async () => {
    await writeFile(join(home, 'big.txt'), 'SECRET line of text\n'.repeat(5000))
    const session = await holdfast.startSession({ workdir: home, persist: false, instructions: 'SECRET instructions' })
    await session.sendPrompt('read big.txt')
    await rested(session)
    expect((await session.messages()).length).toBeGreaterThan(2)
    await holdfast.close()
    const files = await readdir(join(home, 'data'), { recursive: true, withFileTypes: true })
    const texts = await Promise.all(
      files.filter((file) => file.isFile()).map((file) => readFile(join(file.parentPath, file.name), 'latin1')),
    )
    expect(texts.length).toBeGreaterThan(0)
    expect(texts.filter((text) => text.includes('SECRET'))).toEqual([])
    holdfast = await open()
  })

  it('finds the latest session of a workspace', async () => {
    expect(await holdfast.latest(home)).toBeNull()
    const session = await holdfast.startSession({ workdir: home })
    await session.sendPrompt('list')
    expect((await holdfast.latest(join(home, '.', '/')))?.id).toBe(session.id)
    await expect(holdfast.latest(join(home, 'nowhere'))).rejects.toMatchObject({ code: 'bad_workdir' })
  })

  it('starts a background session for another, with its provider options', async () => {
    const { id: parent } = await holdfast.startSession({ workdir: home })
    const session = await holdfast.startSession({ workdir: home, parent, background: true })
    expect(await session.metadata()).toMatchObject({ parent, background: true })
    const nobody = 'ses_00000000000000000000000000'
    await expect(holdfast.startSession({ workdir: home, parent: nobody })).rejects.toMatchObject({
      code: 'session_not_found',
    })
    const tooMuch = { anthropic: { words: 'x'.repeat(70_000) } }
    await expect(holdfast.startSession({ workdir: home, providerOptions: tooMuch })).rejects.toMatchObject({
      code: 'bad_request',
    })
  })

  it('rejects an invalid key and an unknown budget', async () => {
    for (const key of ['', 'a\nb', 'x'.repeat(201)])
      await expect(holdfast.startSession({ workdir: home, key })).rejects.toMatchObject({ code: 'bad_id' })
    const budgets = { maxStep: 1 } as object
    await expect(holdfast.startSession({ workdir: home, budgets })).rejects.toMatchObject({ code: 'bad_request' })
  })

  it('lists the current trust of the workspace, whichever session changed it', async () => {
    const one = await holdfast.startSession({ workdir: home })
    const two = await holdfast.startSession({ workdir: home })
    await one.setToolTrust('shell', 'workspace')
    await one.setToolTrust('write_file', 'session')
    expect(await two.listToolTrust()).toEqual([{ tool: 'shell', scope: 'workspace' }])
    await two.revokeToolTrust('shell')
    expect(await one.listToolTrust()).toEqual([{ tool: 'write_file', scope: 'session' }])
  })

  it("calls the program's notifier when the session becomes idle", async () => {
    const notified: string[] = []
    const session = await holdfast.startSession({ workdir: home, notifier: ({ type }) => void notified.push(type) })
    await session.sendPrompt('list')
    await rested(session)
    expect(notified).toEqual(['turn.ended'])
  })

  it('unloads an idle session after the configured time', async () => {
    const brief = await openHoldfast({ environment: environment(), store: 'memory:', idleUnloadMs: 1 })
    const news = brief.subscribe()[Symbol.asyncIterator]()
    const first = news.next()
    const { id } = await brief.startSession({ workdir: home })
    for (let one = await first; one.value?.type !== 'session.stopped'; one = await news.next());
    expect(brief.listSessions().map(({ session }) => session.id)).not.toContain(id)
    await brief.close()
  })

  it('brings an empty session back after it was unloaded, until it stops', async () => {
    const brief = await openHoldfast({ environment: environment(), store: 'memory:', idleUnloadMs: 1 })
    const news = brief.subscribe()[Symbol.asyncIterator]()
    let next = news.next()
    const stopped = async () => {
      for (let one = await next; one.value?.type !== 'session.stopped'; one = await news.next());
      next = news.next()
    }
    const session = await brief.startSession({ workdir: home, model: 'demo/agent' })
    await stopped()
    expect(await session.status()).toBe('idle')
    expect(await session.prompt('count to 3').text()).toContain('3')
    await stopped()
    expect((await brief.getSession(session.id)).id).toBe(session.id)
    const empty = await brief.startSession({ workdir: home })
    await stopped()
    await brief.stopSession(empty.id)
    await expect(brief.getSession(empty.id)).rejects.toMatchObject({ code: 'session_not_found' })
    await brief.close()
  })

  it('lists the loaded sessions', async () => {
    expect(holdfast.listSessions()).toEqual([])
    const { id } = await holdfast.startSession({ workdir: home })
    expect(holdfast.listSessions().map(({ session, metadata }) => [session.id, metadata.id])).toEqual([[id, id]])
  })

  it('prompts a session by name', async () => {
    const session = await holdfast.startSession({ workdir: home })
    await holdfast.sendPrompt(session.id, 'what can you do?')
    await rested(session)
    expect((await session.messages()).map(({ kind }) => kind)).toContain('assistant')
  })

  it('aborts a session by name', async () => {
    const session = await holdfast.startSession({ workdir: home })
    await session.sendPrompt('run sleep 1000')
    for await (const frame of session.subscribe({ after: 0 })) {
      if (frame.type === 'record' && frame.record.event.type === 'approval.asked') break
    }
    await holdfast.abort(session.id)
    expect(await session.status()).toBe('idle')
  })

  it('finds a session by id, prefix and handle', async () => {
    const { id } = await holdfast.startSession({ workdir: home })
    const { handle } = (await (await holdfast.getSession(id)).metadata()) ?? {}
    for (const name of [id, id.slice(0, 24), handle]) expect((await holdfast.getSession(name)).id).toBe(id)
    await expect(holdfast.getSession('calm-harbor-999999')).rejects.toMatchObject({ code: 'session_not_found' })
    await expect(holdfast.getSession('../etc/passwd')).rejects.toMatchObject({ code: 'bad_id' })
    const foreign = '20260102-030405-00112233445566aa'
    await expect(holdfast.getSession(foreign)).rejects.toMatchObject({ code: 'session_not_found' })
  })

  it('stops a session, which can be opened again', async () => {
    const session = await holdfast.startSession({ workdir: home })
    await session.sendPrompt('list')
    await rested(session)
    const before = await session.messages()
    await holdfast.stopSession(session.id)
    expect(holdfast.listSessions()).toEqual([])
    expect(await (await holdfast.getSession(session.id)).messages()).toEqual(before)
  })

  it('finds the session with a key, or starts it', async () => {
    const first = await holdfast.getOrCreate('telegram:4711', { workdir: home })
    expect((await holdfast.getOrCreate('telegram:4711')).id).toBe(first.id)
    expect((await holdfast.getOrCreate('telegram:4712', { workdir: home })).id).not.toBe(first.id)
    const named = await holdfast.getOrCreate('bot:1', { workdir: home })
    expect((await holdfast.getSession('bot:1')).id).toBe(named.id)
    await expect(holdfast.getOrCreate('bad\u0000key')).rejects.toMatchObject({ code: 'bad_id' })
    await expect(holdfast.startSession({ workdir: home, key: 'telegram:4711' })).rejects.toMatchObject({
      code: 'key_taken',
    })
  })

  it('stores the history and summary of a session with a key', async () => {
    const session = await holdfast.getOrCreate('telegram:4713', { workdir: home })
    const texts = async () =>
      (await (await holdfast.getOrCreate('telegram:4713')).messages()).map((one) => 'text' in one && one.text)
    await session.setHistory([
      { role: 'user', content: 'one' },
      { role: 'assistant', content: 'two' },
      { role: 'user', content: 'three' },
    ])
    expect([await texts(), await session.getSummary()]).toEqual([['one', 'two', 'three'], ''])
    await session.truncateHistory(2)
    await session.setSummary('They counted.')
    await holdfast.stopSession(session.id)
    expect(await (await holdfast.getOrCreate('telegram:4713')).getSummary()).toBe('They counted.')
    expect(await texts()).toEqual(['two', 'three', 'They counted.'])
    await session.setHistory([])
    expect([await texts(), await session.getSummary()]).toEqual([['They counted.'], 'They counted.'])
    expect(await session.messages({ branch: (await session.listBranches()).at(-1)?.name })).toHaveLength(3)
  })

  it('leaves nothing of a session without messages', async () => {
    const { id } = await holdfast.startSession({ workdir: home })
    await holdfast.stopSession(id)
    await expect(holdfast.getSession(id)).rejects.toMatchObject({ code: 'session_not_found' })
  })

  it('sends commands to the process that owns a session, until it closes it', async () => {
    const session = await holdfast.startSession({ workdir: home })
    await session.sendPrompt('list')
    await rested(session)
    const other = await open()
    await (await other.getSession(session.id)).sendPrompt('list')
    await rested(session)
    expect(other.listSessions()).toEqual([])
    await holdfast.stopSession(session.id)
    await (await other.getSession(session.id)).sendPrompt('list')
    expect(other.listSessions()).toHaveLength(1)
    await other.close()
  })

  it('accepts ids as plain strings and numbers, and rejects invalid ones', async () => {
    const session = await holdfast.startSession({ workdir: home, key: 'plain' })
    await using _tab = await session.attach({ client: 'tab-1' })
    const sent = await session.sendPrompt('list', { commandId: 'once', as: 'tab-1' })
    await rested(session)
    expect(await session.sendPrompt('list', { commandId: 'once', as: 'tab-1' })).toEqual(sent)
    await expect(session.sendPrompt('list', { commandId: 'not an id' })).rejects.toMatchObject({ code: 'bad_request' })
    await expect(session.respondToApproval('approve', 4)).rejects.toMatchObject({ code: 'approval_not_found' })
  })

  it('starts a session with given messages, or fails as a whole', async () => {
    const session = await holdfast.startSession({
      workdir: home,
      messages: [
        { role: 'user', content: 'list' },
        { role: 'assistant', content: '', toolCalls: [{ id: 'a', tool: 'list_directory' }] },
        { role: 'tool', toolCallId: 'a', content: 'nothing there' },
        { role: 'user', content: 'count to 2' },
      ],
    })
    expect((await session.messages()).map(({ kind, turn }) => [kind, turn])).toEqual([
      ['user', 0],
      ['tool_call', 0],
      ['user', 1],
    ])
    expect(await session.metadata()).toMatchObject({ title: 'list', messageCount: 3, turnCount: 2, status: 'idle' })
    await session.branchAt(0)
    expect(await session.metadata()).toMatchObject({ messageCount: 2, turnCount: 1, branchCount: 1 })
    const orphan = { role: 'tool', toolCallId: 'a', content: 'nothing there' } as const
    await expect(holdfast.startSession({ workdir: home, messages: [orphan] })).rejects.toMatchObject({
      code: 'bad_request',
    })
    expect((await holdfast.list()).sessions).toHaveLength(1)
  })

  it('forks a session by name, and does not change it', async () => {
    const session = await holdfast.startSession({ workdir: home, messages: [{ role: 'user', content: 'one' }] })
    await holdfast.appendMessage(session.id, { role: 'user', content: 'two' })
    const fork = await holdfast.fork(session.id, 0)
    expect((await fork.messages()).map((one) => 'text' in one && one.text)).toEqual(['one'])
    await fork.sendPrompt('list')
    await rested(fork)
    expect((await session.messages()).map((one) => 'text' in one && one.text)).toEqual(['one', 'two'])
    expect((await (await holdfast.fork(session.id)).messages()).length).toBe(2)
    await expect(holdfast.fork(session.id, 9)).rejects.toMatchObject({ code: 'turn_not_found' })
  })

  it('accepts a checkpoint, and sends the model nothing from before it', async () => {
    const session = await holdfast.startSession({ workdir: home, messages: [{ role: 'user', content: 'long ago' }] })
    await holdfast.appendCheckpoint(session.id, [{ role: 'user', content: 'in short' }], 40)
    expect((await session.messages()).map((one) => 'text' in one && one.text)).toEqual(['long ago', '', 'in short'])
    expect(await session.getSummary()).toBe('')
    await session.setSummary('They met.')
    expect(await session.getSummary()).toBe('They met.')
    await session.undoCompaction()
    expect(await session.getSummary()).toBe('')
  })

  it('rejects an unknown tool and suggests a similar one', async () => {
    const started = holdfast.startSession({ workdir: home, tools: ['read_fil'] })
    await expect(started).rejects.toMatchObject({ code: 'bad_request', message: expect.stringContaining('read_file') })
  })

  it('refuses an unusable state directory, and leaves nothing open', async () => {
    const path = join(home, 'a.db')
    const other = { ...environment(), HOLDFAST_HOME: join(home, 'other') }
    const { stateDir } = findHome(other)
    await mkdir(stateDir, { recursive: true })
    await writeFile(join(stateDir, 'nodes'), 'in the way')
    const opening = openHoldfast({ environment: other, store: `sqlite:${path}` })
    await expect(opening).rejects.toMatchObject({ name: 'HoldfastError', code: 'storage_error' })
    expect([existsSync(path), existsSync(`${path}-wal`)]).toEqual([true, false]) // the last connection removes it
  })

  it('fails if the store fails after opening, and leaves nothing open even if closing fails', async () => {
    const path = join(home, 'a.db')
    await (await open(`sqlite:${path}`)).close()
    const file = new DatabaseSync(path, { timeout: 5000 })
    file.exec(`insert into node values ('node_dead', '${join(home, 'none.sock')}', '2026-01-01T00:00:00.000Z');
      create trigger stuck before delete on node begin select raise(fail, 'stuck'); end`)
    file.close()
    const problems: string[] = []
    const opening = openHoldfast({
      environment: environment(),
      store: `sqlite:${path}`,
      onProblem: ({ where }) => void problems.push(where),
    })
    await expect(opening).rejects.toBeInstanceOf(HoldfastError)
    expect(problems).toContain('closing after a failed start')
    expect(existsSync(`${path}-wal`)).toBe(false)
  })

  it('emits a process warning for a problem without a listener', async () => {
    const path = join(home, 'a.db')
    const first = await open(`sqlite:${path}`)
    const session = await first.startSession({ workdir: home })
    await session.sendPrompt('list')
    await rested(session)
    await first.close()
    const file = new DatabaseSync(path, { timeout: 5000 })
    file.exec(`update session set busy = 1; delete from snapshot; update record set body = '{}' where seq = 2`)
    file.close()
    const warned = once(process, 'warning', { signal: AbortSignal.timeout(5000) })
    const again = await open(`sqlite:${path}`)
    expect(await warned).toMatchObject([
      { name: 'HoldfastProblem', message: expect.stringContaining(`settling ${session.id}`) },
    ])
    await again.close()
  })
})
