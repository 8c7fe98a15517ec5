import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { TokenRole } from '@holdfast/protocol'
import { startServerProcess } from '../../e2e/server-process.ts'
import { ask } from '../ask.ts'

/** A client with a token, or with none. */
export type Caller = {
  readonly name: string
  readonly secret: string | null
  /** Null without a valid token. */
  readonly role: TokenRole | null
  readonly isForOneSession: boolean
}

/** A real server with sessions, tokens, rules, trust and files, and a client of each kind. */
export interface FuzzWorld {
  readonly port: number
  readonly callers: readonly Caller[]
  /** The session that tokens for one session are for. */
  readonly session: string
  /** Returns usual values for a field or a part of a path. */
  textsFor(name: string): readonly string[]
  /** Returns everything that a refused request must not change. */
  read(): Promise<WorldState>
  /** Returns the same as an admin sees it. */
  readAsAdmin(): Promise<unknown>
  /** Waits until no session works, and makes the sessions again that were deleted. Returns the state then. */
  settle(): Promise<WorldState>
  /** Returns the names of all properties of the prototypes in the server's process. */
  readPrototypes(): Promise<unknown>
  get(path: string): Promise<{ readonly status: number; readonly text: string }>
  /** Returns what the server wrote to its log. */
  close(): Promise<void>
}

export type WorldState = { readonly [part: string]: string }

const probe = new URL('./prototype-probe.mjs', import.meta.url).href

export async function openFuzzWorld(): Promise<FuzzWorld> {
  const root = await mkdtemp(join(tmpdir(), 'holdfast-fuzz-'))
  const [home, workdir] = [join(root, 'home'), join(root, 'work')]
  await mkdir(join(workdir, '.holdfast'), { recursive: true })
  await writeFile(join(workdir, 'notes.txt'), 'one\ntwo\n')
  const server = await startServerProcess({ home, preload: probe })
  const database = new DatabaseSync(join(home, 'data/holdfast.db'), { readOnly: true })
  const port = Number(new URL(server.url).port)

  const asAdmin = async (path: string, body?: unknown) => {
    const answer = await ask(server, path, body === undefined ? {} : { body })
    if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${answer.text}`)
    return JSON.parse(answer.text)
  }
  const startSession = async (title: string): Promise<string> => {
    const { session } = await asAdmin('/sessions', { workdir, model: 'demo/agent', title })
    await asAdmin(`/sessions/${session.id}/commands`, {
      type: 'seedMessages',
      messages: [{ role: 'user', content: 'hello' }],
    })
    return session.id
  }
  const [session, other, trashed] = [await startSession('own'), await startSession('other'), await startSession('gone')]
  const deleted = await ask(server, `/sessions/${trashed}`, { method: 'DELETE' })
  if (deleted.status !== 200) throw new Error(deleted.text)
  const rule = await asAdmin('/permissions', { tool: 'shell', pattern: 'ls *', verdict: 'allow' })
  const upload = await ask(server, '/blobs?name=a.txt', {
    bytes: new TextEncoder().encode('text'),
    headers: { 'content-type': 'text/plain' },
  })
  const { file } = JSON.parse(upload.text)

  const createCaller = async (role: TokenRole, isForOneSession = false): Promise<Caller> => {
    const name = isForOneSession ? `${role} of one session` : role
    const { secret } = await asAdmin('/tokens', { name, role, ...(isForOneSession && { session }) })
    return { name, secret, role, isForOneSession }
  }
  const nobody = { role: null, isForOneSession: false }
  const callers: readonly Caller[] = [
    { name: 'no token', secret: null, ...nobody },
    { name: 'wrong token', secret: 'x'.repeat(43), ...nobody },
    ...[await createCaller('viewer'), await createCaller('driver'), await createCaller('admin')],
    ...[await createCaller('viewer', true), await createCaller('driver', true)],
  ]
  await asAdmin('/tokens', { name: 'spare', role: 'viewer' })

  const stream = await openStream(server.url, callers[4]?.secret ?? '')
  let sessions = [session, other]
  const texts: { readonly [name: string]: () => readonly string[] } = {
    id: () => [...sessions, ...sessions, trashed],
    session: () => [...sessions, trashed],
    attachment: () => ['tab-1', 'tab-2'],
    client: () => ['tab-1', 'tab-2'],
    hash: () => [file.hash ?? '0'.repeat(64), '0'.repeat(64)],
    token: () => ['spare', 'none', callers[2]?.secret ?? ''],
    rule: () => [rule.id, 'none'],
    stream: () => ['none', stream.id],
    text: () => [root, `${workdir}/`, 'no'],
    workdir: () => [workdir, workdir, `${workdir}/none`],
    workspace: () => [workdir],
    model: () => ['demo/agent', 'none/none'],
    path: () => ['notes.txt', 'none.txt', '../x'],
    olderThan: () => ['30d', '1h'],
    tool: () => ['shell', 'read_file'],
  }

  async function read(): Promise<WorldState> {
    const all = (sql: string) => JSON.stringify(database.prepare(sql).all())
    return {
      sessions: all(
        'select id, handle, key, head, workspace, pinned, meta, trashed_at, purged_at from session order by sid',
      ),
      records: all('select count(*), max(pos) from record'),
      trust: all('select * from trust order by 1, 2, 3'),
      tokens: all('select id, hash, name, role, session, expires_at from token order by id'),
      config: await readFolder(join(home, 'config')),
      workdir: await readFolder(workdir),
    }
  }

  return {
    port,
    callers,
    session,
    read,
    textsFor: (name) => texts[name]?.() ?? ['hello', 'a', 'x1', 'some text'],
    async readAsAdmin() {
      const paths = ['/sessions?limit=200', '/trash', '/permissions', '/trust/workspaces', '/tokens']
      const answers = await Promise.all(paths.map((path) => asAdmin(path)))
      return JSON.parse(JSON.stringify(answers, (key, value) => (key === 'lastUsedAt' ? null : value)))
    },
    async settle() {
      let before = JSON.stringify(await read())
      for (;;) {
        const { sessions: running } = await asAdmin('/sessions?running=true')
        const rows = database.prepare('select count(*) as busy from session where busy <> 0').get()
        for (const id of sessions) await ask(server, `/sessions/${id}/state?fields=activity`)
        const now = await read()
        const text = JSON.stringify(now)
        if (running.length === 0 && rows?.['busy'] === 0 && text === before) break
        before = text
      }
      const listed: readonly { id: string }[] = (await asAdmin('/sessions?limit=200')).sessions
      sessions = sessions.filter((id) => listed.some((one) => one.id === id))
      while (sessions.length < 2) sessions.push(await startSession('again'))
      return read()
    },
    async readPrototypes() {
      const answer = once(server.process, 'message')
      server.process.send('prototypes')
      const [names] = await answer
      return names
    },
    get: (path) => ask(server, path),
    async close() {
      stream.leave()
      database.close()
      await server.kill()
      await rm(root, { recursive: true, force: true })
    },
  }
}

/** Opens a stream for several sessions, and returns its id. */
async function openStream(url: string, secret: string) {
  const leaving = new AbortController()
  const headers = { authorization: `Bearer ${secret}` }
  const { body } = await fetch(`${url}/v1/stream`, { headers, signal: leaving.signal })
  const reader = body?.getReader()
  let text = ''
  while (reader && !text.includes('\n\n')) text += new TextDecoder().decode((await reader.read()).value)
  const id = /"stream":"([^"]+)"/.exec(text)?.[1]
  if (id === undefined) throw new Error(`a stream begins with its id: ${text}`)
  return { id, leave: () => leaving.abort() }
}

/** Returns the names and texts of all files below a folder. */
async function readFolder(folder: string): Promise<string> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
  const files = found
    .filter((entry) => entry.isFile() && !entry.name.includes('.lock'))
    .map((entry) => join(entry.parentPath, entry.name))
  return JSON.stringify(await Promise.all(files.sort().map(async (path) => [path, await readFile(path, 'utf8')])))
}
