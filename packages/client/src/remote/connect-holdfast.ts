import {
  type ExportChoice,
  type Fault,
  type FaultCode,
  HoldfastError,
  ImportAnswer,
  type ImportChoice,
  type ImportFile,
  type ImportResult,
  orThrow,
  parseSessionName,
  Stats,
} from '@holdfast/protocol'
import { createHoldfastMethods, type HoldfastMethods } from '../holdfast/holdfast-methods.ts'
import type { FollowNewsOptions } from '../http/follow.ts'
import { chunksOf, type Http, parseAnswer, queryOf } from '../http/http.ts'
import {
  type ConnectOptions,
  connectWire,
  createRemoteSessions,
  type Health,
  type RemoteSessions,
} from './connect-sessions.ts'
import { createRemotePermissions } from './remote-permissions.ts'

/** The runtime of a server, with the methods of the one that `openHoldfast` returns. */
export interface RemoteHoldfast extends HoldfastMethods {
  readonly handles: RemoteSessions
  /** Reconnects automatically; load the list again to see what was missed. */
  subscribe(options?: FollowNewsOptions): ReturnType<HoldfastMethods['subscribe']>
  /** Returns the version of the server, if it answers. */
  health(): Promise<Health>
  /** Ends what follows all sessions. The sessions of the server run on. */
  close(): Promise<void>
}

/** Connects to a server. It sends nothing until a method is called. Without a token, the cookie of the page is used. */
export function connectHoldfast(
  url: string,
  token?: string,
  options: Omit<ConnectOptions, 'url' | 'token'> = {},
): RemoteHoldfast {
  const wire = connectWire({ ...options, url, token })
  const handles = createRemoteSessions(wire)
  const closing = new AbortController()
  const exportSession = (name: string, choice?: ExportChoice) => exportPieces(wire, name, choice)
  const close = async () => closing.abort()
  return {
    ...createHoldfastMethods(handles, {
      now: Date.now,
      export: exportSession,
      permissions: createRemotePermissions(wire),
    }),
    handles,
    export: exportSession,
    async import(given, choice = {}) {
      const files = 'bytes' in given ? [given] : given
      const results: ImportResult[] = []
      for (const file of files) results.push(...(await importFile(wire, file, choice)))
      return results
    },
    stats: async (asked = {}) =>
      orThrow(parseAnswer(await wire.json(`/v1/stats${queryOf(asked)}`), 'a statistics request', Stats)),
    health: async () => orThrow(await handles.health()),
    subscribe: ({ signal, ...rest } = {}) =>
      handles.subscribe({ ...rest, signal: signal ? AbortSignal.any([signal, closing.signal]) : closing.signal }),
    close,
    [Symbol.asyncDispose]: close,
  }
}

async function* exportPieces(wire: Http, name: string, { format, redact }: ExportChoice = {}): AsyncGenerator<string> {
  orThrow(parseSessionName(name))
  const path = `/v1/sessions/${encodeURIComponent(name)}/export`
  const body = orThrow(await wire.stream(`${path}${queryOf({ format, redact: redact || undefined })}`))
  const decoder = new TextDecoder()
  for await (const chunk of chunksOf(body)) yield decoder.decode(chunk, { stream: true })
  yield decoder.decode()
}

/** Faults that are about the file and not about the server or the token. */
const fileFaults: ReadonlySet<FaultCode> = new Set(['bad_request', 'too_large'])

async function importFile(
  wire: Http,
  { name, bytes }: ImportFile,
  { keepSettings, signal }: ImportChoice,
): Promise<readonly ImportResult[]> {
  const query = queryOf({ name, keepSettings: keepSettings || undefined })
  const answer = parseAnswer(await wire.json(`/v1/import${query}`, { bytes, signal }), 'an import', ImportAnswer)
  if (answer.ok)
    return answer.value.files.map(({ remarks, ...file }) => ({
      ...file,
      file: name,
      remarks: remarks.map(({ line = null, ...remark }) => ({ line, ...remark })),
    }))
  if (!fileFaults.has(answer.fault.code)) throw new HoldfastError(answer.fault)
  return [failed(name, answer.fault)]
}

const failed = (file: string, why: Fault): ImportResult => ({
  ...{ file, format: null, status: 'failed', session: null, messages: 0, remarks: [], fault: why },
})
