import createClient from 'openapi-fetch'
import type { components, paths } from './generated-api.ts'

type Frame = components['schemas']['Frame']

const { HOLDFAST_URL: baseUrl = '', HOLDFAST_TOKEN: token = '', WORKDIR: workdir = '' } = process.env
const headers = { authorization: `Bearer ${token}` }
const api = createClient<paths>({ baseUrl, headers })

/** Returns the data of an answer. The type of `error` names every code that the route can answer with. */
function orThrow<Data>({ data, error }: { data?: Data; error?: { error: { code: string; message: string } } }): Data {
  if (error) throw new Error(`${error.error.code}: ${error.error.message}`)
  if (data === undefined) throw new Error('an answer without a body')
  return data
}

/** Yields the frames of a stream of server-sent events. */
async function* readFrames(body: ReadableStream<Uint8Array>): AsyncGenerator<Frame> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const bytes of body) {
    const events = (rest + decoder.decode(bytes, { stream: true })).split('\n\n')
    rest = events.pop() ?? ''
    for (const event of events) {
      const data = /^data: (.*)$/m.exec(event)?.[1]
      if (data !== undefined) yield JSON.parse(data) as Frame // as the document says
    }
  }
}

const health = orThrow(await api.GET('/v1/health'))
const started = orThrow(await api.POST('/v1/sessions', { body: { workdir, model: 'demo/agent' } }))
const { id } = started.session
const path = { id }

const { attachment, role } = orThrow(await api.POST('/v1/sessions/{id}/attachments', { params: { path }, body: {} }))
const stream = await api.GET('/v1/sessions/{id}/events', {
  params: { path, query: { after: 0, attachment } },
  parseAs: 'stream',
})
if (!stream.response.ok || !stream.data) throw new Error('no stream')

const sent = orThrow(
  await api.POST('/v1/sessions/{id}/commands', {
    params: { path, header: { 'holdfast-attachment': attachment } },
    body: { type: 'sendPrompt', content: 'write hello.txt: hello from a generated client' },
  }),
)

let approved = ''
let ended = ''
for await (const frame of readFrames(stream.data as ReadableStream<Uint8Array>)) {
  if (frame.type !== 'record') continue
  const { event } = frame.record
  if (event.type === 'approval.asked') {
    const { approvals } = orThrow(await api.GET('/v1/sessions/{id}/approvals', { params: { path } }))
    const [first] = approvals
    if (!first) throw new Error('nothing waits')
    approved = first.tool
    orThrow(
      await api.POST('/v1/sessions/{id}/commands', {
        params: { path, header: { 'holdfast-attachment': attachment } },
        body: { type: 'respondToApproval', approval: first.id, decision: 'approve' },
      }),
    )
  }
  if (event.type === 'turn.ended') {
    ended = event.reason
    break
  }
}

const page = orThrow(await api.GET('/v1/sessions/{id}/messages', { params: { path, query: { limit: 50 } } }))
const exported = orThrow(
  await api.GET('/v1/sessions/{id}/export', { params: { path, query: { format: 'md' } }, parseAs: 'text' }),
)
const listed = orThrow(await api.GET('/v1/sessions', { params: { query: { limit: 10 } } }))
const left = await api.DELETE('/v1/sessions/{id}/attachments/{attachment}', {
  params: { path: { id, attachment } },
})

const missing = await api.GET('/v1/sessions/{id}', { params: { path: { id: 'cold-harbor-1' } } })
// The compiler knows the codes of each route: another one here would not compile.
const code: 'session_not_found' | null =
  missing.error?.error.code === 'session_not_found' ? missing.error.error.code : null

console.log(
  JSON.stringify({
    status: health.status,
    role,
    seq: sent.seq,
    approved,
    ended,
    left: left.response.status,
    code,
    requestId: missing.error?.error.requestId === missing.response.headers.get('x-request-id'),
    kinds: page.messages.map(({ kind }) => kind),
    exported: exported.includes('hello from a generated client'),
    listed: listed.sessions.map((session) => session.id === id),
  }),
)
