import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type Cli, createCli } from '../../packages/holdfast/src/cli/testing/cli-process.ts'

// Two servers, each a process with a home of its own, on one store. The session runs at the first.
const clis: Cli[] = []
const servers: { readonly name: string; readonly url: string }[] = []
const secrets: Record<string, string> = {}
let session = ''

const Client = z.object({ client: z.string(), role: z.string() })
const Answer = z.object({
  error: z.object({ code: z.string() }).optional(),
  role: z.string().optional(),
  here: z.object({ clients: z.array(Client) }).optional(),
})

async function send(at: string, as: string, method: string, path: string, body?: object, client?: string) {
  const gone = new AbortController()
  const response = await fetch(`${at}/v1/sessions/${session}${path}`, {
    method,
    signal: gone.signal,
    headers: {
      authorization: `Bearer ${secrets[as]}`,
      ...(client !== undefined && { 'holdfast-attachment': client }),
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  if (!response.headers.get('content-type')?.includes('event-stream')) {
    const answer = Answer.parse(response.status === 204 ? {} : await response.json())
    return { status: response.status, code: answer.error?.code ?? 'ok', answer }
  }
  const reader = response.body?.getReader()
  const first = new TextDecoder().decode((await reader?.read())?.value)
  gone.abort()
  return { status: response.status, code: /"reason":"(\w+)"/.exec(first)?.[1] ?? 'stream', answer: Answer.parse({}) }
}

/** Returns who is attached in which role, as the owner of the session says. */
async function here(): Promise<Readonly<Record<string, string>>> {
  const { answer } = await send(servers[0]?.url ?? '', 'admin', 'GET', '/state?fields=here')
  return Object.fromEntries((answer.here?.clients ?? []).map(({ client, role }) => [client, role]))
}

beforeAll(async () => {
  const first = createCli()
  const second = createCli()
  clis.push(first, second)
  const create = async (name: string, ...args: readonly string[]) => {
    secrets[name] = (await first.run(['token', 'create', name, ...args])).stdout.trim()
  }
  await create('anna', '--role', 'driver')
  await create('carl', '--role', 'driver')
  await create('vic', '--role', 'viewer')
  await create('admin', '--role', 'admin')
  const start = async (name: string, cli: Cli, ...args: readonly string[]) => {
    const server = cli.start(['serve', '--port', '0', '--no-page', ...args])
    const [, url = ''] = await server.until('stderr', /(http:\/\/127\.0\.0\.1:\d+)/)
    servers.push({ name, url })
  }
  await start('the owner', first)
  await start('another server', second, '--store', `sqlite:${join(first.home, 'data', 'holdfast.db')}`)
  const started = await fetch(`${servers[0]?.url}/v1/sessions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secrets['anna']}`, 'content-type': 'application/json' },
    body: JSON.stringify({ workdir: first.workdir, model: 'demo/agent' }),
  })
  session = z.object({ session: z.object({ id: z.string() }) }).parse(await started.json()).session.id
  await create('guest', '--role', 'driver', '--session', session)
  const link = (await first.run(['share', session])).stdout.trim()
  secrets['link'] = link.slice(link.indexOf('#') + 1)
}, 60_000)

afterAll(() => {
  for (const cli of clis) cli[Symbol.dispose]()
})

/** What a caller can do with the name of a client. The first three are open to those who only watch. */
const uses: Readonly<Record<string, (at: string, as: string) => ReturnType<typeof send>>> = {
  'follow as it': (at, as) => send(at, as, 'GET', '/events?attachment=anna-tab'),
  'follow as it, as a viewer': (at, as) => send(at, as, 'GET', '/events?attachment=anna-tab&role=viewer'),
  'attach as it': (at, as) => send(at, as, 'POST', '/attachments', { attachment: 'anna-tab' }),
  'attach as it, as a viewer': (at, as) =>
    send(at, as, 'POST', '/attachments', { attachment: 'anna-tab', role: 'viewer' }),
  'command as it': (at, as) => send(at, as, 'POST', '/commands', { type: 'rename', title: 'taken' }, 'anna-tab'),
  'abort as it': (at, as) => send(at, as, 'POST', '/commands', { type: 'abort' }, 'anna-tab'),
  'claim as it': (at, as) => send(at, as, 'POST', '/attachments/anna-tab/claim?takeOver=true'),
  'hand over as it': (at, as) => send(at, as, 'POST', '/attachments/anna-tab/handover', { client: 'other' }),
  'detach it': (at, as) => send(at, as, 'DELETE', '/attachments/anna-tab'),
}

describe('a client of a caller, with two servers on one store', () => {
  it('cannot be used by any other caller, at either server', async () => {
    const [owner] = servers
    const attached = await send(owner?.url ?? '', 'anna', 'POST', '/attachments', {
      attachment: 'anna-tab',
      keptMs: 600_000,
    })
    expect(attached.answer).toMatchObject({ role: 'driver' })
    for (const [index, { name, url }] of servers.entries())
      for (const as of ['vic', 'link', 'guest', 'carl', 'admin'])
        for (const [what, use] of Object.entries(uses)) {
          const { code } = await use(url, as)
          const row = `${as} at ${name}: ${what}`
          const isWatcher = as === 'vic' || as === 'link'
          const follows = what.startsWith('follow')
          // At another server a stream under the name has no name: it shows the session, and no more.
          const expected = follows ? (index === 0 ? 'foreign_attachment' : 'stream') : isWatcher ? 'not_driver' : null
          if (expected !== null) expect([row, code]).toEqual([row, expected])
          else expect([row, ['foreign_attachment', 'not_subscribed'].includes(code)]).toEqual([row, true])
          expect([row, await here()]).toEqual([row, { 'anna-tab': 'driver' }])
        }
  })

  it('is their own at either server, and keeps control from others', async () => {
    for (const { name, url } of servers) {
      expect([name, (await uses['attach as it']?.(url, 'anna'))?.answer.role]).toEqual([name, 'driver'])
      expect([name, (await uses['command as it']?.(url, 'anna'))?.code]).toEqual([name, 'ok'])
      for (const as of ['carl', 'guest']) {
        const attached = await send(url, as, 'POST', '/attachments', { attachment: `${as}-tab` })
        expect([name, as, attached.answer.role]).toEqual([name, as, 'viewer'])
        const claimed = await send(url, as, 'POST', `/attachments/${as}-tab/claim?takeOver=true`)
        expect([name, as, claimed.code]).toEqual([name, as, 'driver_taken'])
        expect((await send(url, as, 'DELETE', `/attachments/${as}-tab`)).code).toBe('ok')
      }
      expect([name, (await here())['anna-tab']]).toEqual([name, 'driver'])
    }
  })
})
