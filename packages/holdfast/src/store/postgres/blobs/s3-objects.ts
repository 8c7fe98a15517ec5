import { setTimeout as wait } from 'node:timers/promises'
import { errorMessage, type Fault, fault, HoldfastError } from '@holdfast/protocol/fault'
import type { Environment } from '../../../system/home.ts'
import { registerKey } from '../../../system/secrets/known-keys.ts'
import { objectUrl, type S3Place } from './s3-url.ts'
import { type S3Credentials, signRequest } from './sign-request.ts'

const attemptsMax = 4
const firstPauseMs = 200
const answerMsMax = 60_000
const empty = new Uint8Array()

/** A check is short: what asks for it waits, and asks again soon. */
const probe = { attempts: 2, msMax: 3000, key: 'holdfast-ready' }
const probeText = 'Holdfast writes this object to check that files can be stored here.\n'

/** Writes, reads and removes objects of a server that speaks the protocol of S3. */
export type S3Objects = ReturnType<typeof createS3Objects>

/** Uses the keys of the environment, as other programs do. Throws storage_error at the first use if there are none. */
export function createS3Objects(environment: Environment = {}) {
  const credentials = readCredentials(environment)
  if (credentials) registerKey(credentials.secret)

  async function ask(method: 'PUT' | 'GET' | 'DELETE', place: S3Place, key: string, options: AskOptions = {}) {
    const { body = empty, attempts = attemptsMax, signal } = options
    const url = objectUrl(place, key)
    if (credentials === null) throw failure(place, noKeys)
    for (let attempt = 1; ; attempt += 1) {
      const headers = signRequest({ method, url, body }, credentials, { region: place.region, nowMs: Date.now() })
      const answer = await fetch(url, {
        method,
        headers,
        redirect: 'error',
        signal: signal ?? AbortSignal.timeout(answerMsMax),
        ...(method === 'PUT' && { body: Buffer.from(body) }),
      }).catch((cause: unknown) => errorMessage(cause))
      if (typeof answer !== 'string' && answer.ok) return answer
      // A slow answer, or one that says to come back, is worth another try; the same bytes may be written twice.
      const isFinal = typeof answer !== 'string' && answer.status < 500 && answer.status !== 429
      if (typeof answer !== 'string') await answer.body?.cancel()
      if (isFinal && answer.status === 404 && method === 'DELETE') return answer
      if (isFinal || attempt >= attempts)
        throw typeof answer === 'string'
          ? failure(place, answer)
          : failure(place, `it answered ${answer.status}`, { status: answer.status })
      await wait(firstPauseMs * 2 ** (attempt - 1))
    }
  }

  return {
    async put(place: S3Place, key: string, bytes: Uint8Array): Promise<void> {
      await discard(ask('PUT', place, key, { body: bytes }))
    },
    async get(place: S3Place, key: string): Promise<Uint8Array> {
      return new Uint8Array(await (await ask('GET', place, key)).arrayBuffer())
    },
    /** Removes an object; one that is not there counts as removed. */
    async remove(place: S3Place, key: string): Promise<void> {
      await discard(ask('DELETE', place, key))
    },
    /** Rejects if objects cannot be stored now. Writes a small object: who may read a bucket may not be allowed to write. */
    async probe(place: S3Place): Promise<void> {
      const within = { attempts: probe.attempts, signal: AbortSignal.timeout(probe.msMax) }
      await discard(ask('PUT', place, probe.key, { ...within, body: Buffer.from(probeText) }))
    },
  }
}

type AskOptions = {
  readonly body?: Uint8Array | undefined
  readonly attempts?: number | undefined
  /** Ends all attempts; by default each may take a minute. */
  readonly signal?: AbortSignal | undefined
}

const discard = async (answer: Promise<Response>): Promise<void> => (await answer).body?.cancel()

function readCredentials(environment: Environment): S3Credentials | null {
  const { AWS_ACCESS_KEY_ID: keyId, AWS_SECRET_ACCESS_KEY: secret, AWS_SESSION_TOKEN: token } = environment
  return keyId && secret ? { keyId, secret, ...(token && { token }) } : null
}

/** Returns a fault if the environment has no keys for a place. Known at the start, so that no session has to find out. */
export const findNoKeys = (environment: Environment, place: S3Place): Fault | null =>
  readCredentials(environment) === null ? failure(place, noKeys).toFault() : null

const noKeys = 'there is no key; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY'

/** Returns whether an object is not there. */
export const isMissing = (cause: unknown): boolean => statusOf(cause) === 404

const statusOf = (cause: unknown): number =>
  Number(cause instanceof HoldfastError ? cause.details?.['status'] : undefined)

const failure = ({ bucket, endpoint }: S3Place, why: string, more = {}): HoldfastError => {
  const message = `The bucket ${bucket} cannot be used for files: ${why}.`
  return new HoldfastError(
    fault('storage_error', message, { reason: 'io', bucket, endpoint: endpoint?.origin ?? 'amazonaws.com', ...more }),
  )
}
