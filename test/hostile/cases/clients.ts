import { once } from 'node:events'
import { get as httpGet, type IncomingMessage } from 'node:http'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { createSession } from '@holdfast/client'
import { limits, SessionId } from '@holdfast/protocol'
import { ask, check, countStatuses } from '../ask.ts'
import type { CaseRun, HostileCase } from '../case.ts'
import { largeText, sendLargePrompts, startLargeSession } from '../large-session.ts'

const megabyte = 1024 ** 2

/** Asks for something large and reads nothing after the head of the answer, whose status `answered` gets. */
function askSilently({ server }: CaseRun, path: string, answered: (status: number) => void): Socket {
  const { hostname, port, host } = new URL(server.url)
  const socket = connect(Number(port), hostname)
  const headers = [`Host: ${host}`, `Authorization: Bearer ${server.token}`]
  socket.on('error', () => undefined) // the server may cut it
  socket.once('data', (head) => {
    socket.pause()
    answered(Number(/^HTTP\/1.1 (\d+)/.exec(head.toString('latin1'))?.[1]))
  })
  socket.write(`GET /v1${path} HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n`)
  return socket
}

/** How long a client that does not read may stay connected, with a margin for a busy machine. */
const cutWithinMs = 90_000

/** Reads on after a while, and returns a violation if the server had not cut the connection. */
async function checkCut(socket: Socket, gone: Promise<unknown>): Promise<readonly string[]> {
  socket.resume()
  const isCut = await Promise.race([gone.then(() => true), sleep(5000, false, { ref: false })])
  return isCut ? [] : ['a client that did not read was not cut']
}

/** Lets many clients ask for the whole of a large session and read nothing. */
const silentClients = (name: string, pathOf: (id: string) => string): HostileCase => ({
  name,
  from: 'client',
  async run(run) {
    const [prompts, count] = run.isQuick ? [3, 20] : [20, 100]
    const id = await startLargeSession(run, prompts)
    const answers: { status: number }[] = []
    const answered = (status: number) => answers.push({ status })
    const first = askSilently(run, pathOf(id), answered)
    await once(first, 'data')
    const sockets = [first, ...Array.from({ length: count - 1 }, () => askSilently(run, pathOf(id), answered))]
    const gone = once(first, 'close')
    const violations: string[] = []
    // The socket buffers of the system take a whole snapshot. Records that follow wait in the server.
    const opened = await run.server.sessions.open(SessionId.parse(id))
    if (!opened.ok) throw new Error(opened.fault.message)
    await sendLargePrompts(opened.value, prompts)
    for (let each = 0; each < 10; each++)
      violations.push(...check('GET usage', await ask(run.server, `/sessions/${id}/usage`), [200]))
    if (!run.isQuick) {
      await sleep(cutWithinMs)
      violations.push(...(await checkCut(first, gone)))
    }
    for (const socket of sockets) socket.destroy()
    if (answers[0]?.status !== 200) violations.push('the first client was refused')
    for (const { status } of answers)
      if (status !== 200 && status !== 503) violations.push(`a client got status ${status}`)
    const did = `${count} clients did not read a session of ${2 * prompts} large prompts: ${countStatuses(answers)}`
    return { did, violations }
  },
})

const silentViewers = silentClients('silent-viewers', (id) => `/sessions/${id}/events`)
const silentReplays = silentClients('silent-replays', (id) => `/sessions/${id}/events?after=0`)
const silentExports = silentClients('silent-exports', (id) => `/sessions/${id}/export?format=jsonl`)

/**
 * Opens a stream on a connection of its own: a kept one may be closed by the server just then, and a second try would hide a
 * connection that the server breaks.
 */
function follow({ server }: CaseRun, path: string): Promise<IncomingMessage> {
  const headers = { authorization: `Bearer ${server.token}` }
  return new Promise((resolve, reject) => {
    httpGet(`${server.url}/v1${path}`, { agent: false, headers }, resolve).on('error', reject)
  })
}

const newcomers: HostileCase = {
  name: 'newcomers',
  from: 'client',
  async run(run) {
    const count = run.isQuick ? 100 : 1_000
    const id = await startLargeSession(run, 1)
    const followed = Array.from({ length: count }, async () => {
      const response = await follow(run, `/sessions/${id}/events`)
      let text = ''
      for await (const piece of response.setEncoding('utf8')) {
        text += piece
        if (text.includes('"type":"snapshot"')) return [] // leaving the loop closes the connection
      }
      return [`a stream with status ${response.statusCode} ended before its snapshot: ${text.slice(0, 200)}`]
    })
    return { did: `${count} viewers came at once`, violations: (await Promise.all(followed)).flat() }
  },
}

/** Follows a session with many viewers that read, while large records come: none of them may be cut. */
const readers: HostileCase = {
  name: 'readers',
  from: 'client',
  async run(run) {
    const [count, prompts] = run.isQuick ? [20, 1] : [150, 4]
    const id = await startLargeSession(run, 3)
    const last = 'the last title'
    const followed = Array.from({ length: count }, async () => {
      const response = await follow(run, `/sessions/${id}/events`)
      let end = ''
      for await (const piece of response.setEncoding('utf8')) {
        if ((end + piece).includes(last)) return [] // leaving the loop closes the connection
        end = piece.slice(-200)
      }
      return [`a viewer that reads was cut, with status ${response.statusCode}, after ${end}`]
    })
    const opened = await run.server.sessions.open(SessionId.parse(id))
    if (!opened.ok) throw new Error(opened.fault.message)
    await sendLargePrompts(opened.value, prompts)
    await createSession(opened.value).rename(last)
    return { did: `${count} viewers read ${prompts} large prompts`, violations: (await Promise.all(followed)).flat() }
  },
}

/** Reads pages of large messages, many at once: each must be bounded, and together they must show every message. */
const largePages: HostileCase = {
  name: 'large-pages',
  from: 'client',
  async run(run) {
    const [prompts, readers] = run.isQuick ? [5, 3] : [20, 50]
    const id = await startLargeSession(run, prompts)
    let complete = 0
    const readAll = async () => {
      let said = 0
      let before: number | null = null
      do {
        const cursor: string = before === null ? '' : `&before=${before}`
        const answer = await ask(run.server, `/sessions/${id}/messages?limit=500${cursor}`)
        const refusal = check('GET messages', answer, [200, 503])
        if (answer.status !== 200) return refusal
        if (answer.text.length > 6 * megabyte) return [`a page has ${answer.text.length} bytes`]
        const page = JSON.parse(answer.text)
        said += page.messages.filter(({ kind }: { kind: string }) => kind === 'user').length
        before = page.before
      } while (before !== null)
      complete += 1
      return said === prompts ? [] : [`the pages have ${said} of ${prompts} prompts`]
    }
    const violations = (await Promise.all(Array.from({ length: readers }, readAll))).flat()
    if (complete === 0) violations.push('every client was refused')
    return { did: `${complete} of ${readers} clients read ${prompts} large prompts`, violations }
  },
}

const uploads: HostileCase = {
  name: 'uploads',
  from: 'client',
  async run(run) {
    const [count, size] = run.isQuick ? [4, 16 * megabyte] : [20, 64 * megabyte - 1]
    const upload = (bytes: number, name: number) => ask(run.server, '/blobs?name=a.pdf', { bytes: pdfOf(bytes, name) })
    const answers = await Promise.all(Array.from({ length: count }, (_, each) => upload(size, each)))
    // A PDF file that is too large for a model is refused once it was received.
    const violations = answers.flatMap((answer) => {
      const code = answer.status === 413 ? 'too_large' : 'server_busy'
      return check('POST /blobs', answer, size > limits.fileBytesMax ? [413, 503] : [201, 503], code)
    })
    if (answers.every(({ status }) => status === 503)) violations.push('no upload was received')
    violations.push(...check('an upload afterwards', await upload(megabyte, count), [201]))
    return { did: `uploaded ${count} files of ${size} bytes at once: ${countStatuses(answers)}`, violations }
  },
}

/** Builds a PDF file without content. `name` makes it differ from the others. */
function pdfOf(size: number, name: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size)
  bytes.set(new TextEncoder().encode(`%PDF-1.4\n${name}`))
  bytes.set(new TextEncoder().encode('%%EOF'), size - 5)
  return bytes
}

/** Exports a session with redaction: long runs of the characters of an e-mail address. */
const redactedExport: HostileCase = {
  name: 'redacted-export',
  from: 'client',
  async run(run) {
    const prompts = run.isQuick ? 2 : 60
    const address = 'mia.example@mail.example'
    const id = await startLargeSession(run, prompts, `${largeText} ${address}`)
    const answer = await ask(run.server, `/sessions/${id}/export?format=jsonl&redact=true`)
    const violations = [...check('GET export', answer, [200])]
    if (answer.text.includes(address)) violations.push('the export has the e-mail address')
    const found = answer.text.split(largeText).length - 1
    if (found < prompts) violations.push(`the export has ${found} of ${prompts} prompts`)
    return { did: `exported ${found} large prompts redacted`, violations }
  },
}

/** Exports tables of Markdown in every format. */
const exportedTables: HostileCase = {
  name: 'exported-tables',
  from: 'client',
  async run(run) {
    const prompts = run.isQuick ? 1 : 20
    const text = `say nothing\n\n|a|b|\n|-|-|\n${'|1|2|\n'.repeat(16_000)}`
    const id = await startLargeSession(run, prompts, text)
    const violations: string[] = []
    let bytes = 0
    for (const format of ['md', 'html', 'json', 'jsonl', 'html&redact=true', 'md&redact=true']) {
      const answer = await ask(run.server, `/sessions/${id}/export?format=${format}`)
      violations.push(...check(`GET ${format}`, answer, [200]))
      if (answer.text.length < prompts * text.length)
        violations.push(`the tables are missing in ${format}: it has ${answer.text.length} characters`)
      bytes += answer.text.length
    }
    return { did: `exported ${prompts} large tables in every format: ${bytes} bytes`, violations }
  },
}

/** Reuses the id of one command for another. */
const reusedCommandId: HostileCase = {
  name: 'reused-command-id',
  from: 'client',
  async run(run) {
    const id = await startLargeSession(run, 1)
    const commandId = 'the-same-for-both'
    const path = `/sessions/${id}/commands`
    const first = await ask(run.server, path, { body: { type: 'rename', title: 'first', commandId } })
    const second = await ask(run.server, path, { body: { type: 'pinSession', pinned: true, commandId } })
    const violations = [
      ...check('first command', first, [202]),
      ...check('second command', second, [409], 'command_id_reused'),
    ]
    return { did: 'sent two commands with one id', violations }
  },
}

/** Speaks as the attachment of another caller, and tries to end it. */
const foreignAttachment: HostileCase = {
  name: 'foreign-attachment',
  from: 'client',
  async run(run) {
    const id = await startLargeSession(run, 1)
    const path = `/sessions/${id}/attachments`
    const made = await ask(run.server, path, { body: { attachment: 'mine' } })
    const login = await fetch(run.server.loginLink, { redirect: 'manual' })
    const cookie = login.headers.get('set-cookie')?.split(';')[0] ?? ''
    const as = (method: string, address: string, body?: object) =>
      fetch(`${run.server.url}/v1${address}`, {
        method,
        headers: {
          cookie,
          'sec-fetch-site': 'same-origin',
          'holdfast-attachment': 'mine',
          ...(body && { 'content-type': 'application/json' }),
        },
        ...(body && { body: JSON.stringify(body) }),
      })
    const answers = await Promise.all([
      as('POST', `/sessions/${id}/commands`, { type: 'rename', title: 'taken' }),
      as('GET', `/sessions/${id}/events?attachment=mine`),
      as('POST', `${path}/mine/claim`),
      as('DELETE', `${path}/mine`),
    ])
    const refusals = await Promise.all(answers.map(async (one) => ({ status: one.status, text: await one.text() })))
    return {
      did: 'used the attachment of another caller',
      violations: [...check('attach', made, [201]), ...refusals.flatMap((one) => check('foreign use', one, [403]))],
    }
  },
}

export const clientCases: readonly HostileCase[] = [
  ...[
    silentViewers,
    silentReplays,
    silentExports,
    newcomers,
    readers,
    largePages,
    uploads,
    redactedExport,
    exportedTables,
    reusedCommandId,
    foreignAttachment,
  ],
]
