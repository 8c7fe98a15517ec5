import { setTimeout as delay } from 'node:timers/promises'
import { done, errorMessage, type Result } from '@holdfast/protocol'
import type { AuthProvider, OAuthClientProvider, StoredOAuthTokens } from '@modelcontextprotocol/client'
import { clientMetadata, type OAuthLibrary, type SignInConfig } from './client-metadata.ts'
import type { SignedIn, SignIns } from './sign-ins.ts'

/** A server wants a person to sign in first. */
export class NeedsSignIn extends Error {
  override readonly name = 'NeedsSignIn'
}

const refreshMs = 8000 // shorter than the time after which the lock counts as abandoned
const triesMax = 5

type SessionAuth = AuthProvider & {
  /** Why a person must sign in; null if nobody must. */
  readonly whySignIn: () => string | null
  /** Looks at each answer: a server may want more scopes than the sign-in has. */
  readonly onAnswer: (answer: Response) => Promise<void>
}

type AuthDeps = {
  readonly library: Pick<OAuthLibrary, 'auth' | 'extractWWWAuthenticateParams'>
  readonly server: string
  readonly url: string
  readonly credentials: SignIns
  readonly config: SignInConfig
}

/** One refresh at a time for each URL in this process; a lock keeps other processes from doing it at the same time. */
const refreshing = new Map<string, Promise<void>>()

/** Signs the requests of sessions with what `holdfast mcp login` has stored, and refreshes it. It never asks a person. */
export function createSessionAuth({ library, server, url, credentials, config }: AuthDeps): SessionAuth {
  let used: string | undefined
  let why: string | null = null
  const needsSignIn = (reason: string): NeedsSignIn => {
    why = `${reason} Sign in with: holdfast mcp login ${server}`
    return new NeedsSignIn(why)
  }

  /** Refreshes under the lock. Whoever gets it later finds the new token and does nothing. */
  async function refresh(ctx: Unauthorized): Promise<void> {
    for (let tries = 1; ; tries++) {
      const refreshed = await credentials.change(url, async (known, write) => {
        if (!known) throw needsSignIn('It needs you to sign in.')
        if (known.tokens.access_token !== used) return done
        return refreshNow(known, write, ctx)
      })
      if (refreshed.ok) return
      if (tries >= triesMax) throw new Error(refreshed.fault.message)
      await delay(0) // another process held the lock all the time: look at what it wrote
    }
  }

  async function refreshNow(
    known: SignedIn,
    write: (next: SignedIn) => Promise<Result<undefined>>,
    { serverUrl, response }: Unauthorized,
  ): Promise<Result<undefined>> {
    if (!known.tokens.refresh_token) throw needsSignIn('Its sign-in has ended.')
    const { resourceMetadataUrl } = library.extractWWWAuthenticateParams(response)
    const { provider, saved } = createRefreshProvider(known, config)
    try {
      const result = await library.auth(provider, {
        serverUrl,
        ...(resourceMetadataUrl && { resourceMetadataUrl }),
        fetchFn: (input, init) => fetch(input, { ...init, signal: AbortSignal.timeout(refreshMs) }),
      })
      const tokens = saved()
      if (result === 'AUTHORIZED' && tokens) return await write({ ...known, tokens })
    } catch (error) {
      // What is stored stays: the authorization server may be away for a moment.
      throw needsSignIn(`Its sign-in could not be refreshed: ${errorMessage(error)}.`)
    }
    throw needsSignIn('Its sign-in has ended.')
  }

  return {
    whySignIn: () => why,
    async token() {
      used = (await credentials.read(url))?.tokens.access_token
      return used
    },
    async onUnauthorized(ctx) {
      const running = refreshing.get(url) ?? refresh(ctx).finally(() => refreshing.delete(url))
      refreshing.set(url, running)
      await running
      why = null
    },
    async onAnswer(answer) {
      if (answer.status !== 403) return
      const { error, scope } = library.extractWWWAuthenticateParams(answer)
      if (error !== 'insufficient_scope' || scope === undefined) return
      needsSignIn(`It needs more rights: ${scope}.`)
      await credentials.change(url, async (known, write) => {
        if (!known) return done
        const held = [known.tokens.scope ?? '', known.wantedScope ?? '', scope].join(' ').split(' ').filter(Boolean)
        return write({ ...known, wantedScope: [...new Set(held)].join(' ') })
      })
    },
  }
}

type Unauthorized = Parameters<NonNullable<AuthProvider['onUnauthorized']>>[0]

/** A provider that refreshes and does nothing else: it never registers, redirects or forgets. */
function createRefreshProvider(known: SignedIn, config: SignInConfig) {
  let saved: StoredOAuthTokens | null = null
  const redirectUrl = known.client['redirect_uris' as keyof typeof known.client] ?? ['http://127.0.0.1/callback']
  const provider: OAuthClientProvider = {
    redirectUrl: String(Array.isArray(redirectUrl) ? redirectUrl[0] : redirectUrl),
    clientMetadata: clientMetadata(config, 'http://127.0.0.1/callback'),
    clientInformation: () => known.client,
    saveClientInformation: () => undefined,
    tokens: () => known.tokens,
    saveTokens: (tokens) => {
      saved = tokens
    },
    redirectToAuthorization: () => {
      throw new NeedsSignIn('a new sign-in is needed')
    },
    saveCodeVerifier: () => undefined,
    codeVerifier: () => '',
    ...(known.discovery && { discoveryState: () => known.discovery, saveDiscoveryState: () => undefined }),
  }
  return { provider, saved: () => saved }
}
