import { mkdir, readFile, realpath, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import type { HoldfastMethods, RemoteHoldfast } from '@holdfast/client'
import {
  BlobHash,
  type CreatedToken,
  HoldfastError,
  type ListedToken,
  limits,
  type SessionNews,
} from '@holdfast/protocol'
import { aPng } from '@holdfast/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Holdfast } from './holdfast.ts'
import { openApi, type Where } from './testing/near-and-far.ts'

/** What only the runtime of this process has, and why: the table in the client's README. Any other row does not compile. */
const onlyNear: Record<Exclude<keyof Holdfast, keyof RemoteHoldfast>, string> = {
  listSessions: 'returns objects of this memory, without waiting',
  conversations: 'the loop of the program runs in its own process',
  load: 'read the store without its runtime',
  hasUserInteraction: 'read the store without its runtime',
  dir: 'paths of this machine',
  defaultDir: 'paths of this machine',
  normalizeWorkspacePath: 'paths of this machine',
  currentWorkspacePath: 'paths of this machine',
  backup: 'need the files of the store',
  doctor: 'need the files of the store',
}
/** What only a server has. */
const onlyFar: Record<Exclude<keyof RemoteHoldfast, keyof Holdfast>, string> = {
  health: 'a runtime of this process needs no health check',
  share: 'a link needs the address of a server',
  createLoginLink: 'only a server has a page',
  access: 'a program needs no token for its own runtime',
  logIn: 'only a server has a page',
  logOut: 'only a server has a page',
  completeFolder: 'a program sees its own disk',
  completeInFolder: 'a program sees its own disk',
  completePath: 'a program sees its own disk',
  saveKey: 'a program uses `holdfast auth`, or variables',
  removeKey: 'a program uses `holdfast auth`, or variables',
  setDefaultModel: 'a program gives the option `model`',
}

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'ok',
    (error: unknown) => (error instanceof HoldfastError ? error.code : String(error)),
  )

it('lists each method that only one of the two has in the README of the client', async () => {
  const readme = await readFile(new URL('../../client/README.md', import.meta.url), 'utf8')
  const table = /\n\| Only in `openHoldfast`[^\n]*\n[^\n]*\n((?:\|[^\n]*\n)+)/.exec(readme)?.[1] ?? ''
  const listed = table.split('\n').flatMap((row) => {
    const [, names = '', why = ''] = row.split('|').map((cell) => cell.trim())
    if (!/^`\w+`(, `\w+`)*$/.test(names)) return [] // options, which the types of the arguments list
    return names.split(', ').map((name) => [name.slice(1, -1), why] as const)
  })
  expect(Object.fromEntries(listed)).toEqual(onlyNear)
  expect(listed).toHaveLength(Object.keys(onlyNear).length)
  expect(readme).toContain(`Only a server has \`${Object.keys(onlyFar).join('()`, `')}()\`.`)
})

describe.each<Where>(['here', 'of a server', 'of another node'])('the runtime %s', (where) => {
  let home = ''
  let api: HoldfastMethods
  const closing: (() => Promise<unknown>)[] = []

  beforeEach(async () => {
    const opened = await openApi(where)
    home = opened.home
    api = opened.api
    closing.push(async () => opened[Symbol.asyncDispose]())
  })
  afterEach(async () => {
    for (const close of closing.splice(0)) await close()
  })

  const spoken = async (prompt = 'count to 2', options: object = {}) => {
    const session = await api.startSession({ workdir: home, ...options })
    await session.prompt(prompt).result()
    return session
  }

  it.each(['support', 'my key/1', 'calm-harbor-7'])(
    'takes the key %j in every method that names a session',
    async (key) => {
      const session = await api.getOrCreate(key, { workdir: home })
      await session.prompt('count to 2').result()
      const idOf = async (found: Promise<{ readonly id: string } | null>) => (await found)?.id
      expect(await idOf(api.getSession(key))).toBe(session.id)
      expect(await idOf(api.ensureMeta(key))).toBe(session.id)
      expect((await api.fork(key)).id).not.toBe(session.id)
      expect((await Array.fromAsync(api.export(key))).join('')).toContain('count to 2')
      expect(await api.exportMarkdown(key)).toContain('count to 2')
      await api.save(key)
      await api.stopSession(key)
      expect((await api.delete(key)).gone).toMatchObject([{ id: session.id }])
      expect(await codeOf(api.getSession(key))).toBe('session_trashed')
      expect(await idOf(api.restore(key))).toBe(session.id)
      expect((await api.purge(key)).gone).toMatchObject([{ id: session.id }])
    },
  )

  it('has no session of a plausible name that none has', async () => {
    for (const name of ['support', 'calm-harbor', 'session-1', 'telegram:1'])
      expect([
        await codeOf(api.getSession(name)),
        await codeOf(api.delete(name)),
        await codeOf(api.purge(name)),
        await codeOf(api.restore(name)),
        await codeOf(api.fork(name)),
        await codeOf(api.ensureMeta(name)),
        await codeOf(api.exportMarkdown(name)),
      ]).toEqual(Array(7).fill('session_not_found'))
  })

  it('refuses a second key for getOrCreate', async () => {
    expect(await codeOf(api.getOrCreate('k1', { key: 'k2' }))).toBe('bad_request')
  })

  it('lists the commands that run in the background, and how they ended', async () => {
    const command = 'printf 12345 > out; printf 1é45; until [ -e go ]; do sleep 0.01; done'
    const session = await spoken(`run in background ${command}`, { approvals: 'none' })
    await session.abort().catch(() => undefined) // nothing runs but the command, which stays
    await expect.poll(async () => (await session.backgroundShells())[0]?.outputBytes, { timeout: 15_000 }).toBe(5)
    expect(await session.backgroundShells()).toEqual([
      {
        id: expect.stringMatching(/^\w{4}$/),
        command,
        startedAt: expect.any(String),
        outputBytes: 5,
        tail: '1é45',
        isCut: false, // 4 characters, 5 bytes: all of it
      },
    ])
    await writeFile(join(home, 'go'), '')
    await expect
      .poll(() => session.backgroundShells(), { timeout: 15_000 })
      .toMatchObject([{ command, outputBytes: 5, tail: '1é45', ended: { exitCode: 0, how: 'exit code 0' } }])
  })

  it('ends a command in the background for the driver, not for a viewer, and refuses to end one that does not run', async () => {
    const session = await spoken('run in background exec sleep 1000', { approvals: 'none' })
    await session.abort().catch(() => undefined)
    const id = (await session.backgroundShells())[0]?.id ?? ''
    const driver = await session.attach({ client: 'anna' })
    const viewer = await session.attach({ client: 'ben', role: 'viewer' })
    await expect(viewer.stopBackgroundShell(id)).rejects.toMatchObject({ code: 'not_driver' })
    expect(await session.backgroundShells()).toMatchObject([{ id }])
    expect(await driver.stopBackgroundShell(id)).toEqual({ seq: expect.any(Number) })
    expect(await session.backgroundShells()).toMatchObject([{ id, ended: { exitCode: null, how: 'stopped' } }])
    await expect(driver.stopBackgroundShell(id)).rejects.toMatchObject({ code: 'not_found' })
    await Promise.all([driver.detach(), viewer.detach()])
  })

  it('takes a relative folder here only: a server refuses it, because it would mean a folder of its own', async () => {
    const session = await api.startSession()
    expect((await session.metadata()).workspace).toBe(await realpath('.'))
    const folder = relative(process.cwd(), home)
    const key = 'bot:1'
    const uses: Record<string, () => Promise<unknown>> = {
      startSession: () => api.startSession({ workdir: folder }),
      getOrCreate: () => api.getOrCreate(key, { workdir: folder }),
      moveWorkdir: () => session.moveWorkdir(folder),
      save: () => api.save({ id: 'bot:2', workspace: folder, messages: [] }),
      list: () => api.list({ workspace: folder }),
      trash: () => api.trash({ workspace: folder }),
      search: () => api.search('word', { workspace: folder }),
      latest: () => api.latest(folder),
      prune: () => api.prune(30, { workspace: folder, dryRun: true }),
      clearAll: () => api.clearAll({ workspace: folder, dryRun: true }),
      permissions: () => api.permissions({ workspace: folder }),
    }
    const codes = await Promise.all(
      Object.entries(uses).map(async ([name, use]) => [name, await codeOf(use())] as const),
    )
    const expected = Object.keys(uses).map((name) => [name, where === 'of a server' ? 'bad_workdir' : 'ok'])
    expect(codes).toEqual(expected)
    if (where === 'of a server')
      await expect(api.startSession({ workdir: '.' })).rejects.toThrow(
        'The workdir . is relative. Over HTTP, give the absolute path of a folder on the server.',
      )
  })

  it('refuses an option that it does not have, and names the nearest one', async () => {
    const wrong = { workdir: home, modle: 'demo/agent' } as object
    await expect(api.startSession(wrong)).rejects.toThrow(/there is no option "modle" \(did you mean 'model'\?\)/)
    await expect(api.list({ limti: 1 } as object)).rejects.toThrow(
      /there is no option "limti" \(did you mean 'limit'\?\)/,
    )
  })

  it('starts a session and runs a turn', async () => {
    const session = await api.startSession({ workdir: home, title: 'Mine' })
    expect(await session.prompt('count to 2').text()).toContain('2')
    expect(await session.metadata()).toMatchObject({ title: 'Mine', workspace: home })
    expect((await api.getSession(session.id)).id).toBe(session.id)
    expect((await api.getSession((await session.metadata()).handle)).id).toBe(session.id)
  })

  it('gets or creates a session by its key', async () => {
    const one = await api.getOrCreate('bot:1', { workdir: home })
    expect((await api.getOrCreate('bot:1')).id).toBe(one.id)
    expect((await one.metadata()).key).toBe('bot:1')
    expect(await codeOf(api.startSession({ workdir: home, key: 'bot:1' }))).toBe('key_taken')
    expect(await codeOf(api.getOrCreate(''))).toBe('bad_id')
  })

  it.each(['nope', 'user 7', 'my/chat', 'Ünï', 'calm-harbor-12', 'ses_1', '../x'])(
    'gets the session with the key %s by its name',
    async (key) => {
      expect(await codeOf(api.getSession(key))).toMatch(/^(bad_id|session_not_found)$/)
      const { id } = await api.getOrCreate(key, { workdir: home })
      expect((await api.getSession(key)).id).toBe(id)
    },
  )

  it('lists, finds and searches sessions', async () => {
    const other = join(home, 'other')
    await mkdir(other)
    const one = await spoken('count to 2')
    const two = await spoken('count to 3', { workdir: other })
    const ids: string[] = []
    for await (const { id } of api.sessions({ workspace: home })) ids.push(id)
    expect(ids).toEqual([one.id])
    expect((await api.list()).sessions.map(({ id }) => id).toSorted()).toEqual([one.id, two.id].toSorted())
    expect((await api.search('count', { session: two.id })).hits[0]).toMatchObject({ sessionId: two.id })
    expect([(await api.latest(other))?.id, (await api.latest(home))?.id]).toEqual([two.id, one.id])
    expect(await api.latest(tmpdir())).toBeNull()
    expect(await codeOf(api.latest(join(home, 'missing')))).toBe('bad_workdir')
  })

  it('applies permission rules to running sessions, and names the rule', async () => {
    const session = await api.startSession({ workdir: home })
    const rule = { tool: 'shell', pattern: 'echo **', verdict: 'allow' } as const
    const added = await api.addPermission(rule)
    expect(await api.permissions()).toEqual([{ id: added.id, ...rule }])
    expect(await session.prompt('run echo hi there').result()).toMatchObject({ reason: 'done' })
    const [call] = (await session.messages()).filter(({ kind }) => kind === 'tool_call')
    expect(call).toMatchObject({ call: { status: 'complete', approvedBy: { rule: 'your rule `echo **`' } } })
    await api.addPermission({ ...rule, verdict: 'deny', workspace: home })
    expect(await session.prompt('run /bin/echo hi').text()).toContain('your rule `echo **` forbids')
    expect((await api.permissions({ workspace: home })).map(({ verdict }) => verdict)).toEqual(['allow', 'deny'])
    for (const { id } of await api.permissions()) await api.removePermission(id)
    expect(await api.permissions()).toEqual([])
    expect(await codeOf(api.removePermission(added.id))).toBe('not_found')
    expect(await codeOf(api.addPermission({ ...rule, pattern: 'bash **' }))).toBe('bad_request')
    expect(await codeOf(api.addPermission({ ...rule, verdict: 'maybe' } as never))).toBe('bad_request')
  })

  it('stores "always allow" as a rule of the workspace, which one list shows and removes', async () => {
    const asked = async () => {
      const session = await api.startSession({ workdir: home })
      for await (const item of session.prompt('run echo $((1 + 1))'))
        if (item.type === 'approval') return { session, item }
      return { session, item: null }
    }
    const { session } = await asked()
    const waiting = async () => (await api.list({ waiting: true })).sessions.map(({ id }) => id)
    expect(await waiting()).toContain(session.id)
    await session.respondToApproval('approve_always')
    expect(await waiting()).not.toContain(session.id)
    const [rule] = await api.permissions()
    expect(rule).toMatchObject({ tool: 'shell', pattern: 'echo $((1 + 1))', exact: true, workspace: home })
    expect(await session.listToolTrust()).toEqual([])
    const again = await asked()
    expect(again.item).toBeNull()
    await api.removePermission(rule?.id ?? '')
    expect((await asked()).item).not.toBeNull()
  })

  it('sends commands by name', async () => {
    const { id } = await spoken()
    expect(await api.pinSession(id)).toMatchObject({ pinned: true })
    await api.rename(id, 'Named')
    await api.appendMessage(id, { role: 'user', content: 'more' })
    await api.appendClientEvent(id, { eventId: 'one', type: 'shown' })
    expect(await api.abort(id)).toMatchObject({ seq: expect.any(Number) })
    const session = await api.getSession(id)
    expect(await session.metadata()).toMatchObject({ title: 'Named', pinned: true })
    const events = await Array.fromAsync(session.clientEvents())
    expect(events.map(({ event }) => event.eventId)).toEqual(['one'])
    expect(await codeOf(api.sendPrompt(id, ''))).toBe('empty_prompt')
  })

  it('adds messages with files and thinking, and those that messages() returned', async () => {
    const { file } = await api.storeFile(aPng(4, 4), { name: 'sky.png' })
    const session = await api.startSession({ workdir: home })
    await session.seedMessages([
      { role: 'user', content: [{ type: 'text', text: 'what is this?' }, file] },
      { role: 'assistant', thinking: 'blue', content: 'The sky.', toolCalls: [{ id: 'a', tool: 'look', args: {} }] },
      { role: 'tool', toolCallId: 'a', content: 'seen' },
      { role: 'system', content: 'noted', level: 'error' },
    ])
    const said = async (one: typeof session) =>
      (await one.messages()).map(({ kind, ...rest }) => [
        kind,
        'parts' in rest
          ? rest.parts
          : 'call' in rest
            ? [rest.call.tool, rest.call.result]
            : 'text' in rest && rest.text,
      ])
    const messages = await session.messages()
    expect(await said(session)).toEqual([
      ['user', [{ type: 'text', text: 'what is this?' }, file]],
      ['thinking', 'blue'],
      ['assistant', 'The sky.'],
      ['tool_call', ['look', { text: 'seen' }]],
      ['system', 'noted'],
    ])
    const copies = [await api.startSession({ workdir: home }), await api.startSession({ workdir: home })]
    const [seeded = session, appended = session] = copies
    await seeded.seedMessages(messages)
    for (const message of messages) await api.appendMessage(appended.id, message)
    for (const copy of copies) expect(await said(copy)).toEqual(await said(session))
    const usage = (await (await spoken()).messages()).find(({ kind }) => kind === 'usage')
    if (usage) expect(await api.appendMessage(appended.id, usage)).toEqual({ seq: expect.any(Number) })
    expect([usage?.kind, await said(appended)]).toEqual(['usage', await said(session)]) // it was counted elsewhere
    await seeded.setHistory(messages)
    expect(await said(seeded)).toEqual(await said(session))
    const missing = { ...file, blob: BlobHash.parse('0'.repeat(64)) }
    expect(await codeOf(session.seedMessages([{ role: 'user', content: [missing] }]))).toBe('blob_not_found')
    expect(await codeOf(session.setHistory([{ role: 'user', content: [missing] }]))).toBe('blob_not_found')
    const messagesWith = [{ role: 'user' as const, content: [missing] }]
    expect(await codeOf(api.startSession({ workdir: home, messages: messagesWith }))).toBe('blob_not_found')
  })

  it('ends one subscription from outside of its loop, and no other', async () => {
    const session = await api.startSession({ workdir: home })
    const [left, stays] = [session.subscribe(), session.subscribe()]
    const seen: string[] = []
    for await (const frame of left) {
      seen.push(frame.type)
      left.unsubscribe()
    }
    expect(seen[0]).toBe('snapshot')
    for await (const frame of stays) {
      if (frame.type === 'snapshot') await session.addSystemMessage('still here')
      if (frame.type === 'record' && frame.record.event.type === 'note.added') break
    }
  })

  it('creates and replaces a session from a value', async () => {
    const id = '20260102-030405-00112233445566aa' // an id of another program
    const data = {
      id,
      title: 'Ships',
      workspace: home,
      model: 'demo/agent',
      summary: 'They looked.',
      messages: [
        { role: 'user' as const, content: 'what is there?' },
        { role: 'assistant' as const, content: '', toolCalls: [{ id: 'x', tool: 'look', args: {} }] },
        { role: 'tool' as const, toolCallId: 'x', content: 'a ship' },
      ],
      clientEvents: [{ eventId: 'one', type: 'shown' }],
      clientEventsComplete: true,
    }
    const session = await api.save(data)
    expect(await session.metadata()).toMatchObject({ key: id, title: 'Ships', workspace: home, model: 'demo/agent' })
    expect((await api.getSession(id)).id).toBe(session.id)
    expect([await session.getSummary(), await session.clientEventsComplete()]).toEqual(['They looked.', true])
    const { seq } = await session.snapshot()
    await api.save(data)
    expect((await session.snapshot()).seq).toBe(seq) // nothing new, nothing written

    const more = [...data.messages, { role: 'user' as const, content: 'and now?' }]
    await api.save({ ...data, title: 'More ships', messages: more })
    expect((await session.messages()).flatMap((one) => (one.kind === 'user' ? [one.text] : []))).toEqual([
      'what is there?',
      'and now?',
    ])
    expect(await session.listBranches()).toEqual([])
    expect((await session.metadata()).title).toBe('More ships')

    await api.save({ id: session.id, messages: [{ role: 'user', content: 'something else' }] })
    expect((await session.messages()).flatMap((one) => (one.kind === 'user' ? [one.text] : []))).toEqual([
      'something else',
    ])
    expect(await session.listBranches()).toHaveLength(1)
    const said = (await session.messages()).find(({ kind }) => kind === 'user')
    await session.togglePin(said?.id ?? 0)
    const copy = await api.save({ workspace: home, messages: await session.messages() })
    expect([copy.id === session.id, await copy.pinnedIds()]).toEqual([false, [(await copy.messages())[0]?.id]])
    expect(await codeOf(api.save({ id: '', messages: [] }))).toBe('bad_id')
  })

  it('lists the hooks of a folder with their state', async () => {
    const workdir = join(home, 'hooked')
    await mkdir(join(workdir, '.claude'), { recursive: true })
    const hooks = { Stop: [{ hooks: [{ type: 'command', command: 'true' }] }], Setup: [] }
    await writeFile(join(workdir, '.claude/settings.json'), JSON.stringify({ hooks }))
    expect(await api.hooks(workdir)).toMatchObject([
      { event: 'Stop', hook: 'true', source: 'workspace', state: 'waiting', path: '.claude/settings.json' },
    ])
    expect(await codeOf(api.hooks('relative'))).toBe('bad_workdir')
    const session = await api.startSession({ workdir, hooksEnabled: false })
    expect(await session.hooksEnabled()).toBe(false)
    expect(await (await api.startSession({ workdir, sessionStartHook: false })).hooksEnabled()).toBe(true)
  })

  it('lists the skills, kinds of subagents, MCP servers and slash commands of a folder', async () => {
    const workdir = join(home, 'guided')
    await mkdir(join(workdir, '.holdfast/skills/tidy'), { recursive: true })
    await mkdir(join(workdir, '.holdfast/agents'), { recursive: true })
    await writeFile(
      join(workdir, '.holdfast/skills/tidy/SKILL.md'),
      '---\nname: tidy\ndescription: tidy up\n---\nTidy.',
    )
    await writeFile(join(workdir, '.holdfast/agents/clerk.md'), '---\nname: clerk\ndescription: files\n---\nFile.')
    const mcpServers = { notes: { command: 'notes-server', env: { NOTES_KEY: 'sk-hidden' } } }
    await writeFile(join(workdir, '.mcp.json'), JSON.stringify({ mcpServers }))
    expect(await api.skills(workdir)).toMatchObject([{ name: 'tidy', scope: 'workspace', state: 'untrusted' }])
    expect(await api.agents(workdir)).toMatchObject([{ name: 'clerk', state: 'untrusted' }, { scope: 'built-in' }])
    const servers = await api.mcpServers(workdir)
    expect(servers).toMatchObject({ servers: [{ name: 'notes', state: 'untrusted', target: 'notes-server' }] })
    expect(JSON.stringify(servers)).not.toContain('sk-hidden')
    const commands = await api.commands(workdir)
    expect(commands.find(({ name }) => name === 'plan')).toMatchObject({ source: 'built-in', scope: null })
    expect(commands.filter(({ source }) => source !== 'built-in')).toEqual([]) // nobody trusts this folder
    for (const list of [api.skills, api.agents, api.mcpServers, api.commands])
      expect(await codeOf(list('here'))).toBe('bad_workdir')
  })

  it('creates, lists and revokes tokens, for one session or all', async () => {
    const session = await api.startSession({ workdir: home })
    const phone = await api.tokens.create({ name: 'phone', role: 'driver', expiresIn: '30d' })
    const shared: CreatedToken = await api.tokens.create({ name: 'shared', role: 'viewer', session: session.id })
    expect([phone.session, shared.session]).toEqual([null, session.id])
    expect(phone.secret).toMatch(/^holdfast_/)
    const listed: readonly ListedToken[] = await api.tokens.list()
    expect(listed.map((token) => [token.name, token.role, token.session])).toEqual([
      ['phone', 'driver', null],
      ['shared', 'viewer', session.id],
    ])
    expect(JSON.stringify(listed)).not.toContain(phone.secret)
    expect(await codeOf(api.tokens.create({ name: 'x', role: 'admin', session: session.id }))).toBe('bad_request')
    expect(await codeOf(api.tokens.create({ name: 'x', role: 'viewer', session: 'nobody-here-1' }))).toBe(
      'session_not_found',
    )
    expect(await codeOf(api.tokens.create(undefined as never))).toBe('bad_request')
    expect((await api.tokens.revoke('phone')).id).toBe(phone.id)
    expect(await codeOf(api.tokens.revoke('phone'))).toBe('not_found')
    expect(await codeOf(api.tokens.revoke(7 as never))).toBe('not_found')
    expect(await api.tokens.revokeLogins()).toEqual({ ended: 0 })
    expect(await api.tokens.list()).toHaveLength(1)
  })

  it('trusts what the files of a workspace offer, exactly as it was shown', async () => {
    const [memory, name] = [join(home, '.holdfast', 'MEMORY.md'), '.holdfast/MEMORY.md']
    await mkdir(join(home, '.holdfast'))
    await writeFile(memory, '- planted')
    const shown = await api.workspaceOffers(home)
    expect(shown).toMatchObject({ offers: [{ kind: 'memory', name, text: '- planted', verdict: 'new', before: null }] })
    const offers = shown.offers.map(({ kind, hash }) => ({ kind, name, hash }))
    await writeFile(memory, '- planted later')
    expect(await codeOf(api.trustOffers({ workdir: home, offers }))).toBe('not_found')
    await writeFile(memory, '- planted')
    expect(await api.trustOffers({ workdir: home, offers })).toMatchObject({ offers: [{ verdict: 'trusted' }] })
    expect(await api.trustedWorkspaces()).toMatchObject([{ workspace: shown.workspace, items: [{ name }] }])
    await writeFile(memory, '- planted!')
    expect(await api.workspaceOffers(home)).toMatchObject({ offers: [{ verdict: 'changed', before: '- planted' }] })
    expect(await api.revokeTrust(home)).toEqual({ workspace: shown.workspace, wasTrusted: true })
    expect(await api.workspaceOffers(home)).toMatchObject({ offers: [{ verdict: 'new' }] })
    expect(await codeOf(api.workspaceOffers(join(home, 'missing')))).toBe('bad_workdir')
  })

  it('checks a value before it changes anything', async () => {
    const session = await api.save({ id: 'kept', title: 'Kept', workspace: home, messages: [] })
    const deep = Array.from({ length: limits.jsonDepthMax }).reduce<object>((inner) => ({ inner }), {}) as Record<
      string,
      never
    >
    const toolCalls = [{ id: 'x', tool: 'look', args: deep }]
    for (const wrong of [
      { summary: 'x'.repeat(limits.promptBytesMax + 1) },
      { model: 'nobody/none' },
      { clientEvents: [{ name: 'without an id' } as never] },
      { messages: [{ role: 'assistant' as const, content: '', toolCalls }] },
    ])
      expect(await codeOf(api.save({ id: 'kept', title: 'Changed', messages: [], ...wrong }))).toMatch(
        /^(bad_request|unknown_model)$/,
      )
    const turn = session.prompt('run true')
    for await (const { type } of turn) if (type === 'approval') break
    const running = { id: 'kept', title: 'Changed', messages: [{ role: 'user' as const, content: 'other' }] }
    expect(await codeOf(api.save(running))).toBe('turn_running')
    expect((await session.metadata()).title).toBe('Kept')
    await turn.abort()
  })

  it('refuses an unknown model at the start, names the nearest one and creates nothing', async () => {
    const refusal = (model: string) =>
      api.startSession({ workdir: home, model, key: 'never' }).catch((error: HoldfastError) => error)
    expect(await refusal('demo/agnt')).toMatchObject({
      code: 'unknown_model',
      message: expect.stringContaining("There is no model demo/agnt. Did you mean 'demo/agent'?"),
    })
    expect(await refusal('antropic/claude-x')).toMatchObject({
      message: expect.stringContaining("Did you mean 'anthropic'?"),
    })
    expect(await codeOf(api.save({ id: 'never', model: 'nobody/none', workspace: home, messages: [] }))).toBe(
      'unknown_model',
    )
    expect((await api.list({ workspace: home })).sessions.filter(({ key }) => key === 'never')).toEqual([])
    // A model that its provider may have released yesterday: the key is what is missing.
    expect(await codeOf(api.startSession({ workdir: home, model: 'anthropic/claude-of-tomorrow' }))).toBe('ok')
  })

  it('saves one new key at once: one save creates the session, the others change it', async () => {
    const values = ['one', 'two', 'three'].map((content) => ({
      id: 'at:once',
      workspace: home,
      messages: [{ role: 'user' as const, content }],
    }))
    const saved = await Promise.all(values.map((value) => api.save(value)))
    expect(new Set(saved.map(({ id }) => id)).size).toBe(1)
    const metas = await Promise.all(values.map((value) => api.ensureMeta({ ...value, id: 'at:once:too' })))
    expect(new Set(metas.map((meta) => meta?.id)).size).toBe(1)
  })

  it('saves the session that a handle names, and a key before a handle', async () => {
    const session = await spoken()
    const { handle } = await session.metadata()
    const messages = [{ role: 'user' as const, content: 'by its handle' }]
    expect((await api.save({ id: handle, messages })).id).toBe(session.id)
    const keyed = await api.startSession({ workdir: home, key: handle })
    expect((await api.save({ id: handle, messages })).id).toBe(keyed.id)
    const unused = await api.save({ id: 'calm-harbor-999998', workspace: home, messages })
    expect((await unused.metadata()).key).toBe('calm-harbor-999998')
  })

  it('lists the files of instructions of a session', async () => {
    await writeFile(join(home, 'AGENTS.md'), 'Be brief.')
    const session = await api.startSession({ workdir: home })
    expect(await session.instructionFiles()).toEqual([
      { path: 'AGENTS.md', scope: 'workspace', bytes: 9, isCut: false },
    ])
  })

  it('unpins the messages that are not pinned in a value', async () => {
    const session = await spoken()
    const unpinned = await session.messages()
    await session.togglePin(unpinned[0]?.id ?? 0)
    await api.save({ id: session.id, messages: unpinned })
    expect(await session.pinnedIds()).toEqual([])
  })

  it('takes the name of a session in save and ensureMeta', async () => {
    const [silent, session] = [await api.startSession({ workdir: home, title: 'Mine' }), await spoken()]
    expect(await api.save(session.id)).toBeUndefined()
    expect(await api.save(session)).toBeUndefined()
    expect(await codeOf(api.save('calm-harbor-999999'))).toBe('session_not_found')
    expect(await api.ensureMeta(session.id)).toMatchObject({ id: session.id, title: 'count to 2' })
    expect(await api.ensureMeta(silent.id)).toBeNull()
    expect(await codeOf(api.ensureMeta('calm-harbor-999999'))).toBe('session_not_found')
  })

  it('starts a session without its messages if a person said something', async () => {
    const value = { id: 'session-7', title: 'Seventh', workspace: home }
    expect(await api.ensureMeta({ ...value, messages: [{ role: 'assistant', content: 'hi' }] })).toBeNull()
    expect(await codeOf(api.getSession('session-7'))).toBe('session_not_found')
    const meta = await api.ensureMeta({ ...value, messages: [{ role: 'user', content: 'hello' }] })
    expect(meta).toMatchObject({ key: 'session-7', title: 'Seventh', messageCount: 0 })
    expect((await api.ensureMeta({ ...value, messages: [{ role: 'user', content: 'hello' }] }))?.id).toBe(meta?.id)
  })

  it('pairs files that are imported together by their names', async () => {
    const encode = (value: unknown) => new TextEncoder().encode(JSON.stringify(value))
    const talk = (text: string) => new TextEncoder().encode(`${JSON.stringify({ role: 'user', content: text })}\n`)
    const files = await api.import([
      { name: 'telegram_9.meta.json', bytes: encode({ key: 'telegram:9', summary: 'of nine', skip: 0, count: 1 }) },
      { name: 'telegram_9.jsonl', bytes: talk('nine') },
      { name: 'telegram_8.jsonl', bytes: talk('eight') },
      { name: 'claude.jsonl', bytes: encode({ no: 'session' }) },
      { name: 'claude.meta.json', bytes: encode({ no: 'session either' }) },
    ])
    expect(files.map(({ file, status }) => [file, status])).toEqual([
      ['telegram_9.jsonl', 'imported'],
      ['telegram_8.jsonl', 'imported'],
      ['claude.jsonl', 'failed'],
      ['claude.meta.json', 'failed'],
    ])
    expect(files[0]?.remarks.map(({ code }) => code)).not.toContain('missing_meta')
    expect(files[1]?.remarks.map(({ code }) => code)).toContain('missing_meta')
    const nine = await api.getSession('telegram:9')
    expect(nine.id).toBe(files[0]?.session)
    expect(await nine.getSummary()).toBe('of nine')
  })

  it('forks, exports and imports', async () => {
    const session = await spoken()
    const fork = await api.fork(session.id)
    expect((await fork.metadata()).parent).toBe(session.id)
    expect(await api.exportMarkdown(session.id)).toBe(await api.exportSessionMarkdown(session))
    expect(await api.exportMarkdown(session.id)).toContain('count to 2')
    const bytes = new TextEncoder().encode(
      (await Array.fromAsync(api.export(session.id, { format: 'jsonl' }))).join(''),
    )
    await api.delete(session.id)
    await api.emptyTrash()
    const [imported] = await api.import({ name: 'session.jsonl', bytes })
    expect(imported).toMatchObject({ file: 'session.jsonl', status: 'imported', session: expect.any(String) })
    const back = await api.getSession(imported?.session ?? '')
    expect((await back.messages()).map(({ kind }) => kind)).toContain('assistant')
    const [broken] = await api.import([{ name: 'notes.txt', bytes: new TextEncoder().encode('no session') }])
    expect(broken).toMatchObject({ file: 'notes.txt', session: null, fault: { code: expect.any(String) } })
    expect(await codeOf(api.exportMarkdown('calm-harbor-999999'))).toBe('session_not_found')
  })

  it('deletes, restores, prunes and empties the trash', async () => {
    const [one, two] = [await spoken(), await spoken()]
    expect(await api.delete(one.id)).toMatchObject({ count: 1, gone: [{ id: one.id }] })
    expect(await codeOf(api.getSession(one.id))).toBe('session_trashed')
    expect((await api.trash()).sessions.map(({ id }) => id)).toEqual([one.id])
    expect((await api.restore(one.id)).id).toBe(one.id)
    expect(await api.prune(30, { dryRun: true })).toMatchObject({ count: 0 })
    await two.pinSession()
    expect(await api.clearAll()).toMatchObject({ count: 1, stayed: [{ id: two.id, reason: 'pinned' }] })
    expect(await api.emptyTrash()).toMatchObject({ count: 1 })
    expect(await codeOf(api.restore(one.id))).toBe('session_not_found')
    expect(await api.purge(two.id)).toMatchObject({ count: 1, gone: [{ id: two.id }] })
    expect(await codeOf(api.getSession(two.id))).toBe('session_not_found')
    expect(await codeOf(api.purge(two.id))).toBe('session_not_found')
    expect(await codeOf(api.prune(-1))).toBe('bad_request')
  })

  it('stores files, lists models and counts', async () => {
    const { file } = await api.storeFile(new TextEncoder().encode('a note'), { name: 'note.txt' })
    expect(file).toMatchObject({ type: 'file', mediaType: 'text/plain' })
    expect((await api.models()).models.map(({ model }) => model)).toContain('demo/agent')
    expect(await api.refreshCredentials()).toEqual(await api.models())
    await spoken()
    expect((await api.stats({ days: 1 })).sessions.listed).toBe(1)
    expect(await codeOf(api.storeFile(new Uint8Array()))).toBe('bad_request')
  })

  it('stops a session, and tells those who follow all sessions', async () => {
    const session = await spoken()
    const left = new AbortController()
    const news: SessionNews[] = []
    const follow = async () => {
      for await (const one of api.subscribe({ signal: left.signal })) {
        news.push(one)
        if (one.type === 'session.stopped') left.abort()
      }
    }
    const following = follow()
    for (let stopped = false; !stopped; stopped = news.some(({ type }) => type === 'session.stopped')) {
      await session.rename(`Named ${news.length}`) // until the subscription has begun
      if (news.length > 0) await Promise.all([api.stopSession(session.id), following])
    }
    expect(news.at(-1)).toMatchObject({ type: 'session.stopped', session: session.id, reason: 'stopped' })
    expect(await session.status()).toBe('idle')
  })

  it('refuses with the same codes', async () => {
    const missing = 'ses_00000000000000000000000000'
    expect(await codeOf(api.getSession(missing))).toBe('session_not_found')
    expect(await codeOf(api.getSession('../x'))).toBe('bad_id')
    expect(await codeOf(api.getSession('20260102-030405-00112233445566aa'))).toBe('session_not_found')
    expect(await codeOf(api.startSession({ workdir: join(home, 'missing') }))).toBe('bad_workdir')
    expect(await codeOf(api.startSession({ workdir: home, model: 'no model' }))).toBe('bad_request')
    expect(await codeOf(api.list({ limit: 0 }))).toBe('bad_request')
    expect(await codeOf(api.search(''))).toBe('bad_request')
    expect(await codeOf(api.fork(missing))).toBe('session_not_found')
    expect(await codeOf(api.stopSession(missing))).toBe('session_not_found')
    const session = await api.startSession({ workdir: home })
    expect(await codeOf(session.continue().result())).toBe('nothing_to_continue')
    expect(await codeOf(session.setModel('nobody/none'))).toBe('unknown_model')
  })

  it('refuses to read a session in the trash', async () => {
    const session = await spoken()
    await api.delete(session.id, { force: true })
    const reads = [
      session.status(),
      session.metadata(),
      session.page(),
      session.snapshot(),
      session.usage({ tree: true }),
    ]
    const blob = session.blob(BlobHash.parse('0'.repeat(64)))
    const all = [...reads, blob, session.messages().then(), session.listBranches()]
    const codes = await Promise.all(all.map((read) => codeOf(Promise.resolve(read))))
    expect(codes).toEqual(all.map(() => 'session_trashed'))
  })

  it('refuses wrong pages, hashes and long searches before it reads', async () => {
    const session = await spoken()
    await expect(session.page({ limti: 1 } as object)).rejects.toThrow(
      `Cannot read a page: there is no option "limti" (did you mean 'limit'?).`,
    )
    for (const limit of [0, -1, 1.5, 100_000]) expect(await codeOf(session.page({ limit }))).toBe('bad_request')
    expect(await codeOf(session.blob('zz' as never))).toBe('bad_request')
    await expect(api.search('x'.repeat(100_000))).rejects.toThrow(
      /^Cannot search: text: must have at most \d+ characters\.$/,
    )
    await expect(api.prune(30, { dryrun: true } as object)).rejects.toThrow(
      /no option "dryrun" \(did you mean 'dryRun'/,
    )
    await expect(api.clearAll({ forse: true } as object)).rejects.toThrow(/no option "forse" \(did you mean 'force'/)
    const bytes = new TextEncoder().encode('a note')
    await expect(api.storeFile(bytes, { nmae: 'x' } as object)).rejects.toThrow(
      /no option "nmae" \(did you mean 'name'/,
    )
    await expect(session.rename('x', { commandID: 'a' } as object)).rejects.toThrow(`Did you mean 'commandId'?`)
    await expect(session.abort({ trun: 1 } as object)).rejects.toThrow(`Did you mean 'turn'?`)
  })

  it('imports junk under any name as a failed file', async () => {
    const bytes = new TextEncoder().encode('no session')
    for (const name of ['..', 'a\0b', '', 'notes.txt']) {
      const [file] = await api.import({ name, bytes })
      expect(file).toMatchObject({
        file: name,
        format: null,
        status: 'failed',
        session: null,
        messages: 0,
        remarks: [],
      })
      expect(file?.fault).toMatchObject({ code: 'bad_request', message: expect.not.stringContaining(tmpdir()) })
    }
    expect(await codeOf(api.import({ name: 'x'.repeat(300), bytes }))).toBe('bad_request')
  })

  it('keeps a client attached until its last seat is given up', async () => {
    const session = await api.startSession({ workdir: home })
    const [one, two] = [await session.attach({ client: 'anna' }), await session.attach({ client: 'anna' })]
    expect([one.role, two.role]).toEqual(['driver', 'driver'])
    await one.detach()
    expect(await codeOf(one.rename('one'))).toBe('not_subscribed')
    expect(await codeOf(two.rename('two'))).toBe('ok')
    await two.detach()
    expect(await session.subscriberRole('anna')).toBeNull()
  })

  it('refuses the commands of a client that is not attached', async () => {
    const anna = (await api.startSession({ workdir: home })).as('anna')
    expect(await codeOf(anna.rename('mine'))).toBe('not_subscribed')
    await using seat = await anna.attach()
    expect(await codeOf(anna.rename('mine'))).toBe('ok')
    expect(seat.client).toBe('anna')
    expect(() => anna.as('no spaces')).toThrow(HoldfastError)
  })

  it('is refused once it is closed', async () => {
    const session = await spoken()
    await api.close()
    await api.close()
    for (const call of [api.list(), api.getSession(session.id), api.models(), session.status(), session.rename('x')])
      expect(await codeOf(call)).toBe('session_stopped')
    expect(await codeOf(Array.fromAsync(api.subscribe()))).toBe('session_stopped')
  })
})
