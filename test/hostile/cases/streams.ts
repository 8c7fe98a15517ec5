import { connect, type Socket } from 'node:net'
import { limits } from '@holdfast/protocol'
import { ask, check, countStatuses, type HttpAnswer } from '../ask.ts'
import type { CaseRun, HostileCase } from '../case.ts'
import { startLargeSession } from '../large-session.ts'

type Silent = { readonly socket: Socket; readonly stream: string }

/** Opens a stream of several sessions and reads no more than its id. */
function openSilently({ server }: CaseRun, secret: string): Promise<Silent> {
  const { hostname, port, host } = new URL(server.url)
  const socket = connect(Number(port), hostname)
  socket.write(`GET /v1/stream?news=false HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${secret}\r\n\r\n`)
  let head = ''
  return new Promise((resolve, reject) => {
    socket.on('error', reject) // after the first bytes: the server may cut it
    socket.on('data', (bytes) => {
      head += bytes.toString('latin1')
      const stream = /"stream":"([^"]+)"/.exec(head)?.[1]
      if (stream === undefined) return
      socket.pause()
      resolve({ socket, stream })
    })
  })
}

const fieldOf = (answer: HttpAnswer, key: string): string => String(Object(JSON.parse(answer.text))[key])

/**
 * Opens connections with a link that shares one session, joins as many streams as each may carry, and follows the session on each
 * from another record, as large as a prompt may be. Nobody reads.
 */
const silentJoins: HostileCase = {
  name: 'silent-joins',
  from: 'client',
  refusals: ['server_busy'],
  async run(run) {
    const [prompts, count, joins] = run.isQuick ? [4, 2, 20] : [40, 20, limits.streamJoinsMax]
    const id = await startLargeSession(run, prompts)
    const link = fieldOf(await ask(run.server, `/sessions/${id}/share`, { body: {} }), 'link')
    const secret = link.split('#')[1] ?? ''
    const headers = { authorization: `Bearer ${secret}` }
    const silent: Silent[] = []
    const answers: HttpAnswer[] = []
    for (let each = 0; each < count; each++) {
      const one = await openSilently(run, secret)
      silent.push(one)
      const follow = async (number: number) => {
        const joined = await ask(run.server, `/stream/${one.stream}/join`, {
          body: { tag: `w${number}`, news: false },
          headers,
        })
        const path = `/stream/${fieldOf(joined, 'stream')}/follow`
        return ask(run.server, path, { body: { session: id, after: 1 + ((each + number) % (2 * prompts)) }, headers })
      }
      answers.push(...(await Promise.all(Array.from({ length: joins }, (_, number) => follow(number)))))
    }
    const violations = answers.flatMap((answer) => check('POST follow', answer, [200, 503], 'server_busy'))
    for (let each = 0; each < 10; each++)
      violations.push(...check('GET usage', await ask(run.server, `/sessions/${id}/usage`), [200]))
    for (const { socket } of silent) socket.destroy()
    return {
      did: `${count} connections carried ${joins} streams that nobody read: ${countStatuses(answers)}`,
      violations,
    }
  },
}

/** Follows more sessions on one connection than it may carry, on all its streams together. */
const tooManyFollowed: HostileCase = {
  name: 'too-many-followed',
  from: 'client',
  async run(run) {
    const sessions: string[] = []
    for (let each = 0; each < 3; each++) sessions.push(await startLargeSession(run, 0))
    const { socket, stream } = await openSilently(run, run.server.token)
    const streams = [stream]
    for (let each = 0; each < limits.streamJoinsMax; each++)
      streams.push(
        fieldOf(await ask(run.server, `/stream/${stream}/join`, { body: { tag: `w${each}`, news: false } }), 'stream'),
      )
    const answers: HttpAnswer[] = []
    for (const one of streams)
      for (const session of sessions)
        answers.push(await ask(run.server, `/stream/${one}/follow`, { body: { session } }))
    socket.destroy()
    const violations = answers.flatMap((answer, each) => {
      const isFull = each >= limits.streamSessionsMax
      return check(`follow ${each}`, answer, [isFull ? 413 : 200], 'too_large')
    })
    return { did: `followed ${answers.length} sessions on one connection: ${countStatuses(answers)}`, violations }
  },
}

export const streamCases: readonly HostileCase[] = [silentJoins, tooManyFollowed]
