import { connect } from 'node:net'
import type { Problem } from '@holdfast/core/ports'
import { invariant, ok } from '@holdfast/protocol'
import { createMemoryStore } from '../../store/memory/memory-store.ts'
import { wallClock } from '../../system/wall-clock.ts'
import { createLiveTokens } from '../../tokens/live-tokens.ts'
import { createSecret, hashToken } from '../../tokens/token-secret.ts'
import { undeclared } from '../app.ts'
import { type HoldfastServer, openServer, type ServerOptions } from '../open-server.ts'
import { createFakeSessions } from './fake-sessions.ts'

/** Opens a real server on a free loopback port, with a token of each role and a fixed clock. */
export async function openTestServer(overrides: Partial<ServerOptions> = {}) {
  const tokens = { admin: createSecret(), driver: createSecret(), viewer: createSecret() }
  const clock = { ms: 1_000_000 }
  const fake = createFakeSessions()
  const problems: Problem[] = []
  const rows = createMemoryStore()
  const storedTokens = createLiveTokens({
    rows,
    clock: { now: () => clock.ms, after: wallClock.after },
    onProblem: (problem) => problems.push(problem),
    async findSession(name) {
      const opened = await fake.sessions.open(name)
      return opened.ok ? ok(opened.value.id) : opened
    },
  })
  const opened = await openServer({
    sessions: fake.sessions,
    host: '127.0.0.1',
    port: 0,
    tokens: [
      { hash: hashToken(tokens.admin), role: 'admin' },
      { hash: hashToken(tokens.driver), role: 'driver' },
      { hash: hashToken(tokens.viewer), role: 'viewer' },
    ],
    storedTokens,
    pageDir: null,
    version: '1.2.3',
    now: () => clock.ms,
    onProblem: (problem) => problems.push(problem),
    ...overrides,
  })
  invariant(opened.ok, 'the test server opens')
  const server: HoldfastServer = opened.value

  const call = (path: string, init: RequestInit = {}) =>
    fetch(`${server.url}${path}`, {
      redirect: 'manual',
      headers: { authorization: `Bearer ${tokens.driver}` },
      ...init,
    })
  const post = (path: string, body: string, headers: Record<string, string> = {}) =>
    call(path, {
      method: 'POST',
      headers: { authorization: `Bearer ${tokens.driver}`, 'content-type': 'application/json', ...headers },
      body,
    })

  return {
    server,
    fake,
    rows,
    storedTokens,
    tokens,
    clock,
    problems,
    call,
    post,
    raw: (text: string) => sendRaw(server.port, text),
    async [Symbol.asyncDispose]() {
      await server.close()
      const found = problems.filter(({ cause }) => String(cause).includes(undeclared))
      invariant(
        found.length === 0,
        `routes declare their codes: ${JSON.stringify(found.map(({ where, cause }) => [where, String(cause)]))}`,
      )
    },
  }
}

/** Sends raw bytes, for requests that no client library sends, and reads until the server disconnects. */
export function sendRaw(port: number, text: string): Promise<string> {
  return new Promise((resolve) => {
    let answer = ''
    const socket = connect(port, '127.0.0.1', () => socket.write(text))
    socket.on('data', (chunk) => {
      answer += chunk.toString('utf8')
    })
    socket.on('error', () => undefined) // the server may reset after its answer
    socket.on('close', () => resolve(answer))
  })
}

export const codeOf = async (response: Response): Promise<string> => {
  const body: unknown = await response.json()
  invariant(typeof body === 'object' && body !== null && 'error' in body, 'an error has an error body')
  const { error } = body
  invariant(typeof error === 'object' && error !== null && 'code' in error, 'an error has a code')
  return String(error.code)
}
