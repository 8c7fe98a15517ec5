import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'

/** What the server has accepted and refused, for a test to check. */
export type SignInsSeen = {
  /** Dynamic registrations. */
  registered: number
  /** Authorizations. */
  authorized: number
  /** Codes that became tokens. */
  exchanged: number
  /** Refreshes. */
  refreshed: number
  /** Why it refused something. */
  readonly refusals: string[]
}

type Code = { readonly client: string; readonly redirect: string; readonly challenge: string; readonly scope: string }

/** A strict authorization server and an MCP server behind it, on one loopback address. */
export type SignInServer = {
  /** The URL of the MCP server. */
  readonly url: string
  /** The address of the authorization server. */
  readonly issuer: string
  /** What it has seen so far. */
  readonly seen: SignInsSeen
  /** Ends all access tokens; refresh tokens stay. */
  readonly expireAccess: () => void
  /** Makes the token endpoint fail, as when it is away. */
  readonly setAway: (isAway: boolean) => void
  /** Makes tools/call want this scope too. */
  readonly wantScope: (scope: string | null) => void
  /** Visits a page of authorization as a browser would: returns where it is sent back to. */
  readonly approve: (page: URL) => Promise<URL>
  /** Closes it. */
  readonly close: () => Promise<void>
}

/** Opens the server. It checks PKCE, the redirect and the client, takes each code once, and rotates refresh tokens. */
export async function openSignInServer(): Promise<SignInServer> {
  const seen: SignInsSeen = { registered: 0, authorized: 0, exchanged: 0, refreshed: 0, refusals: [] }
  const clients = new Map<string, readonly string[]>()
  const codes = new Map<string, Code>()
  const access = new Map<string, string>()
  const refresh = new Map<string, { readonly client: string; readonly scope: string }>()
  let isAway = false
  let wanted: string | null = null
  const fresh = (prefix: string) => `${prefix}-${randomBytes(12).toString('hex')}`
  const grant = (client: string, scope: string) => {
    const tokens = { access_token: fresh('access'), refresh_token: fresh('refresh') }
    access.set(tokens.access_token, scope)
    refresh.set(tokens.refresh_token, { client, scope })
    return { ...tokens, token_type: 'Bearer', expires_in: 3600, ...(scope !== '' && { scope }) }
  }
  const refuse = (why: string, error = 'invalid_grant'): Reply => {
    seen.refusals.push(why)
    return { status: 400, body: { error, error_description: why } }
  }

  function exchange(form: URLSearchParams): Reply {
    const name = form.get('code') ?? ''
    const code = codes.get(name)
    codes.delete(name)
    if (!code) return refuse('the code is unknown or was used')
    if (form.get('client_id') !== code.client) return refuse('the client is another one')
    if (form.get('redirect_uri') !== code.redirect) return refuse('the redirect is another one')
    const verifier = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    if (verifier !== code.challenge) return refuse('the verifier does not fit the challenge')
    seen.exchanged += 1
    return { status: 200, body: grant(code.client, code.scope) }
  }

  function renew(form: URLSearchParams): Reply {
    const given = form.get('refresh_token') ?? ''
    const held = refresh.get(given)
    if (!held) return refuse('the refresh token is unknown or was used')
    if (form.get('client_id') !== held.client) return refuse('the client is another one')
    refresh.delete(given)
    seen.refreshed += 1
    return { status: 200, body: grant(held.client, held.scope) }
  }

  function authorize(query: URLSearchParams): Reply {
    const redirect = query.get('redirect_uri') ?? ''
    if (!clients.get(query.get('client_id') ?? '')?.includes(redirect)) return refuse('the redirect is not registered')
    if (query.get('code_challenge_method') !== 'S256' || !query.get('code_challenge')) return refuse('there is no PKCE')
    if (!query.get('state')) return refuse('there is no state')
    const code = fresh('code')
    const [client, challenge, scope] = ['client_id', 'code_challenge', 'scope'].map((name) => query.get(name) ?? '')
    codes.set(code, { client: client ?? '', redirect, challenge: challenge ?? '', scope: scope ?? '' })
    seen.authorized += 1
    const location = new URL(redirect)
    location.searchParams.set('code', code)
    location.searchParams.set('state', query.get('state') ?? '')
    location.searchParams.set('iss', issuer)
    return { status: 302, body: {}, headers: { location: location.href } }
  }

  function callServer(token: string | null, body: RpcRequest): Reply {
    const scope = token === null ? undefined : access.get(token)
    const metadata = `resource_metadata="${issuer}/.well-known/oauth-protected-resource/mcp"`
    if (scope === undefined) return { status: 401, body: {}, headers: { 'www-authenticate': `Bearer ${metadata}` } }
    if (body.method === 'tools/call' && wanted !== null && !scope.split(' ').includes(wanted)) {
      const challenge = `Bearer error="insufficient_scope", scope="${wanted}", ${metadata}`
      return { status: 403, body: {}, headers: { 'www-authenticate': challenge } }
    }
    if (body.id === undefined) return { status: 202, body: null }
    return { status: 200, body: { jsonrpc: '2.0', id: body.id, ...answerOf(body) } }
  }

  async function answer(request: IncomingMessage): Promise<Reply> {
    const url = new URL(request.url ?? '', issuer)
    const text = await readAll(request)
    switch (`${request.method} ${url.pathname}`) {
      case 'GET /.well-known/oauth-protected-resource/mcp':
        return { status: 200, body: { resource: `${issuer}/mcp`, authorization_servers: [issuer] } }
      case 'GET /.well-known/oauth-authorization-server':
        return { status: 200, body: metadataOf(issuer) }
      case 'POST /register': {
        const { redirect_uris } = JSON.parse(text)
        const client_id = fresh('client')
        clients.set(client_id, redirect_uris)
        seen.registered += 1
        return { status: 201, body: { client_id, redirect_uris, token_endpoint_auth_method: 'none' } }
      }
      case 'GET /authorize':
        return authorize(url.searchParams)
      case 'POST /token': {
        if (isAway) return { status: 503, body: { error: 'server_error' } }
        const form = new URLSearchParams(text)
        return form.get('grant_type') === 'refresh_token' ? renew(form) : exchange(form)
      }
      case 'POST /mcp':
        return callServer(/^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? null, JSON.parse(text))
      default:
        return { status: url.pathname === '/mcp' ? 405 : 404, body: {} }
    }
  }

  const server = createServer(async (request, response) => {
    const { status, body, headers = {} } = await answer(request)
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(body === null ? undefined : JSON.stringify(body))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const issuer = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`

  return {
    url: `${issuer}/mcp`,
    issuer,
    seen,
    expireAccess: () => access.clear(),
    setAway: (away) => {
      isAway = away
    },
    wantScope: (scope) => {
      wanted = scope
    },
    async approve(page) {
      const visited = await fetch(page, { redirect: 'manual' })
      const location = visited.headers.get('location')
      if (location === null) throw new Error(`The authorization was refused: ${await visited.text()}`)
      return new URL(location)
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

type Reply = {
  readonly status: number
  readonly body: object | null
  readonly headers?: Readonly<Record<string, string>>
}
type RpcRequest = {
  readonly id?: number
  readonly method: string
  readonly params?: { readonly protocolVersion?: string }
}

const metadataOf = (issuer: string) => ({
  issuer,
  authorization_endpoint: `${issuer}/authorize`,
  token_endpoint: `${issuer}/token`,
  registration_endpoint: `${issuer}/register`,
  response_types_supported: ['code'],
  grant_types_supported: ['authorization_code', 'refresh_token'],
  code_challenge_methods_supported: ['S256'],
  token_endpoint_auth_methods_supported: ['none'],
  authorization_response_iss_parameter_supported: true,
})

function answerOf({ method, params }: RpcRequest): object {
  if (method === 'initialize')
    return {
      result: {
        protocolVersion: params?.protocolVersion ?? '2025-06-18',
        capabilities: { tools: {} },
        serverInfo: { name: 'signed', version: '1' },
      },
    }
  if (method === 'tools/list') return { result: { tools: [{ name: 'who', inputSchema: { type: 'object' } }] } }
  if (method === 'tools/call') return { result: { content: [{ type: 'text', text: 'you are signed in' }] } }
  return { error: { code: -32_601, message: 'unknown method' } }
}

async function readAll(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request) text += String(chunk)
  return text
}
