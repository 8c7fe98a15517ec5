import { connect } from 'node:net'
import { limits } from '@holdfast/protocol'
import { ask, check, countStatuses, type HttpAnswer } from '../ask.ts'
import type { CaseRun, HostileCase } from '../case.ts'

async function startSession({ server, workdir }: CaseRun): Promise<string> {
  const started = await server.sessions.start({ workdir, model: 'demo/agent' })
  if (!started.ok) throw new Error(started.fault.message)
  return started.value.id
}

const post = ({ server }: CaseRun, path: string, body: string): Promise<HttpAnswer> =>
  ask(server, path, { bytes: new TextEncoder().encode(body), headers: { 'content-type': 'application/json' } })

const deepJson: HostileCase = {
  name: 'deep-json',
  from: 'client',
  async run(run) {
    const id = await startSession(run)
    const depth = run.isQuick ? 100_000 : 2_000_000
    const text = `{"type":"rename","title":${'['.repeat(depth)}`
    const bodies = [text, `${'{"a":'.repeat(depth / 4)}1`, '['.repeat(1000) + ']'.repeat(1000), '{"type":"toString"}']
    const answers = await Promise.all(bodies.map((body) => post(run, `/sessions/${id}/commands`, body)))
    const small = await post(run, `/sessions/${id}/commands`, '{"type":"rename","title":"small"}')
    return {
      did: `sent JSON ${depth} deep: ${countStatuses(answers)}`,
      violations: [
        ...answers.flatMap((one) => check('POST', one, [400, 413])),
        ...check('a small command', small, [202]),
      ],
    }
  },
}

/** Sends bodies that are small in bytes and have as many keys or values as fit, or as are allowed. */
const wideJson: HostileCase = {
  name: 'wide-json',
  from: 'client',
  async run(run) {
    const id = await startSession(run)
    const bytes = run.isQuick ? 1_000_000 : 4_000_000
    const fill = (text: string, upTo = bytes) => text.repeat(Math.floor(upTo / text.length))
    const keys = (count: number) => Array.from({ length: count }, (_, each) => `,"k${each.toString(36)}":0`).join('')
    const pair = '"y":"\\ud83d\\ude00"'
    const commands = [
      `{"type":"abort"${keys(bytes / 10)}}`,
      `{"type":"abort",${pair}${keys(bytes / 10)}}`,
      `{"type":"abort"${keys(900)}}`,
      `{"type":"abort",${pair},"x":[${fill('0,')}0]}`,
      `{"type":"abort",${pair},"x":[${fill('{},')}0]}`,
      `{"type":"abort",${pair},"x":[${fill(`{"a":0${keys(900)}},`, 400_000)}0]}`,
      `{"type":"sendPrompt","content":[${fill('{"type":"x"},')}0]}`,
      `{"type":"sendPrompt","content":[${fill('0,', 90_000)}0]}`,
      `{"type":"abort","${'k'.repeat(bytes)}":0}`,
      `{"type":"seedMessages","messages":[${fill('{"role":"user","content":"x"},')}0]}`,
    ]
    const seeds = JSON.stringify({
      type: 'seedMessages',
      messages: Array(limits.seedMessagesMax).fill({ role: 'user', content: 'x' }),
    })
    const violations: string[] = []
    const expectAnswer = (what: string, answer: HttpAnswer, statuses: readonly number[]) => {
      violations.push(...check(what, answer, statuses))
      if (answer.text.length > 10_000) violations.push(`${what}: an answer of ${answer.text.length} bytes`)
    }
    for (const body of commands) {
      expectAnswer(body.slice(0, 60), await post(run, `/sessions/${id}/commands`, body), [400, 413])
      expectAnswer(
        'POST /sessions',
        await post(run, '/sessions', body.replace('"type":"abort"', '"workdir":"/"')),
        [400, 413],
      )
    }
    for (let each = 0; each < 3; each++)
      expectAnswer('seedMessages', await post(run, `/sessions/${id}/commands`, seeds), [202])
    return { did: `sent ${commands.length} bodies with many keys or values`, violations }
  },
}

/** Sends the largest bodies from many clients at once, some of which stop in the middle. */
const manyBodies: HostileCase = {
  name: 'many-bodies',
  from: 'client',
  async run(run) {
    const id = await startSession(run)
    const [clients, stopped] = run.isQuick ? [10, 20] : [20, 150]
    const path = `/sessions/${id}/commands`
    const body = `{"type":"rename","title":"${'x'.repeat(limits.requestBodyBytesMax - 100)}"}`
    const { hostname, port } = new URL(run.server.url)
    const head = [
      `POST /v1${path} HTTP/1.1`,
      `host: ${hostname}:${port}`,
      `authorization: Bearer ${run.server.token}`,
      'content-type: application/json',
      `content-length: ${body.length}`,
    ].join('\r\n')
    const sockets = Array.from({ length: stopped }, () => {
      const socket = connect(Number(port), hostname)
      socket.on('error', () => undefined) // the server may cut it
      socket.write(`${head}\r\n\r\n${body.slice(0, -1)}`)
      return socket
    })
    const answers = await Promise.all(Array.from({ length: clients }, () => post(run, path, body)))
    const small = await post(run, path, '{"type":"rename","title":"small"}')
    for (const socket of sockets) socket.destroy()
    return {
      did: `sent bodies of ${body.length} bytes at once, and ${stopped} that never end: ${countStatuses(answers)}`,
      violations: [
        ...answers.flatMap((answer) => check('POST', answer, [400, 413, 503])),
        ...check('a small command', small, [202]),
        // Together they are larger than what a server holds of bodies.
        ...(answers.some(({ text }) => text.includes('"server_busy"')) ? [] : ['every body was held at once']),
      ],
    }
  },
}

export const bodyCases: readonly HostileCase[] = [deepJson, wideJson, manyBodies]
