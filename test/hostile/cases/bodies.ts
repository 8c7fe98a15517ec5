import { limits } from '@holdfast/protocol'
import { ask, check, type HttpAnswer } from '../ask.ts'
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
    return { did: `sent JSON ${depth} deep`, violations: answers.flatMap((one) => check('POST', one, [400, 413])) }
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

export const bodyCases: readonly HostileCase[] = [deepJson, wideJson]
