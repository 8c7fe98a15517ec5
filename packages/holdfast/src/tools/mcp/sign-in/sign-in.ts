import { randomBytes, timingSafeEqual } from 'node:crypto'
import { errorMessage, fault, ok, orThrow, type Result, refuse } from '@holdfast/protocol'
import type {
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client'
import { clientMetadata, type OAuthLibrary, type SignInConfig } from './client-metadata.ts'
import type { SignIns } from './sign-ins.ts'

type SignInOptions = {
  readonly library: OAuthLibrary
  readonly server: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly config: SignInConfig
  readonly credentials: SignIns
  /** Whether a call has found that a sign-in is needed, although the server answers without one. */
  readonly isWanted: boolean
  /** Where the browser of the person is sent back to. */
  readonly redirectUrl: string
  /** Sends the person to a page, and returns the URL to which they came back; null if they give up. */
  readonly authorize: (page: URL, isExpected: (callback: URL) => boolean) => Promise<URL | null>
}

const answerMs = 20_000

/**
 * Signs a person in to a server, and stores what that gives. Until it has succeeded, nothing that is stored changes. Refused:
 * `mcp_failed`.
 */
export async function signIn(options: SignInOptions): Promise<Result<'signed in' | 'not needed'>> {
  const { library, server, url, headers, credentials, redirectUrl, isWanted, authorize } = options
  const failed = (why: string) => refuse(fault('mcp_failed', `The sign-in to ${server} failed: ${why}`, { server }))
  try {
    const found = await findChallenge(options)
    if (!found && !isWanted) return ok('not needed')
    const challenge: Challenge = found ?? {}
    const known = await credentials.read(url)
    const draft = createDraft(options)
    const scope = known?.wantedScope ?? challenge.scope
    const serverUrl = new URL(url)
    const started = await library.auth(draft.provider, {
      serverUrl,
      ...(scope !== undefined && { scope }),
      ...(challenge.resourceMetadataUrl && { resourceMetadataUrl: challenge.resourceMetadataUrl }),
    })
    const page = draft.page()
    if (started === 'AUTHORIZED' || page === null) return failed('the server did not name a page for it.')
    const callback = await authorize(page, (came) => isSame(came.searchParams.get('state'), draft.state))
    if (callback === null) return failed('it was cancelled.')
    if (!isSame(callback.searchParams.get('state'), draft.state))
      return failed('the answer does not belong to this sign-in.')
    const transport = new library.StreamableHTTPClientTransport(serverUrl, {
      authProvider: draft.provider,
      requestInit: { headers: { ...headers } },
    })
    await transport.finishAuth(callback.searchParams)
    const signedIn = draft.result()
    if (!signedIn) return failed('it gave no token.')
    orThrow(await credentials.change(url, async (_, write) => write(signedIn)))
    return ok('signed in')
  } catch (error) {
    return failed(`${errorMessage(error)}. The redirect was ${redirectUrl}.`)
  }
}

type Challenge = ReturnType<OAuthLibrary['extractWWWAuthenticateParams']>

/** Asks the server what it offers, without a token, and returns what it wants first; null if it answers. */
async function findChallenge({ library, url, headers }: SignInOptions): Promise<Challenge | null> {
  const challenge = Promise.withResolvers<Challenge>()
  const client = new library.Client({ name: 'holdfast', version: '0' }, { capabilities: {} })
  const transport = new library.StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { ...headers } },
    authProvider: {
      token: async () => undefined,
      async onUnauthorized({ response }) {
        challenge.resolve(library.extractWWWAuthenticateParams(response))
        throw new Error('it wants a sign-in')
      },
    },
  })
  const asked = client
    .connect(transport, { timeout: answerMs })
    .then(() => client.listTools(undefined, { timeout: answerMs }))
    .then(() => null)
  try {
    return await Promise.race([challenge.promise, asked])
  } finally {
    asked.catch(() => undefined) // it fails once the challenge is known
    await client.close()
  }
}

/** Holds what a sign-in gives until it is complete. */
function createDraft({ config, redirectUrl }: SignInOptions) {
  const state = randomBytes(24).toString('base64url')
  const { clientId, clientSecret, clientMetadataUrl } = config
  const given: StoredOAuthClientInformation | undefined =
    clientId === undefined ? undefined : { client_id: clientId, ...(clientSecret && { client_secret: clientSecret }) }
  let client = given
  let tokens: StoredOAuthTokens | null = null
  let verifier = ''
  let discovery: OAuthDiscoveryState | undefined
  let page: URL | null = null
  const provider: OAuthClientProvider = {
    redirectUrl,
    ...(clientMetadataUrl !== undefined && { clientMetadataUrl }),
    clientMetadata: clientMetadata(config, redirectUrl),
    state: () => state,
    clientInformation: () => client,
    saveClientInformation: (saved) => {
      client = saved
    },
    tokens: () => undefined, // a new sign-in never refreshes the old one
    saveTokens: (saved) => {
      tokens = saved
    },
    redirectToAuthorization: (to) => {
      page = to
    },
    saveCodeVerifier: (saved) => {
      verifier = saved
    },
    codeVerifier: () => verifier,
    discoveryState: () => discovery,
    saveDiscoveryState: (saved) => {
      discovery = saved
    },
  }
  return {
    state,
    provider,
    page: () => page,
    result() {
      if (!client || !tokens) return null
      const issuer = tokens.issuer ?? discovery?.authorizationServerUrl
      return issuer === undefined ? null : { issuer, client, tokens, discovery }
    },
  }
}

/** Compares in constant time. */
function isSame(given: string | null, expected: string): boolean {
  const [one, other] = [Buffer.from(given ?? ''), Buffer.from(expected)]
  return one.length === other.length && timingSafeEqual(one, other)
}
