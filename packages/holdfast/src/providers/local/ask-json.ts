import { readBody } from '../services/read-body.ts'

/** More than a machine has models to tell of. */
const answerBytesMax = 4 * 1024 * 1024

/** Someone is there, and tells nothing without a key. We give it none: what listens there may be someone else. */
export class KeyWanted extends Error {}

/** What a server on this machine answers, as JSON. Whatever else comes of it, an abort included, is a throw. */
export async function askJson(url: string, signal: AbortSignal, body?: object): Promise<unknown> {
  const answer = await fetch(url, {
    signal,
    redirect: 'error', // it must not send us to another machine
    ...(body !== undefined && {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }),
  })
  if (answer.status === 401 || answer.status === 403) throw new KeyWanted('it wants a key')
  if (!answer.ok) throw new Error(`it answers ${answer.status}`)
  const text = await readBody(answer, answerBytesMax)
  if (text === null) throw new Error('its answer has no end')
  return JSON.parse(text)
}
