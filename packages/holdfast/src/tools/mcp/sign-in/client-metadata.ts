import type { OAuthClientMetadata } from '@modelcontextprotocol/client'

/** How a server knows this client, as its configuration says; all by itself if nothing is given. */
export type SignInConfig = {
  /** A client that was registered by hand. */
  readonly clientId?: string | undefined
  readonly clientSecret?: string | undefined
  /** The HTTPS address of a document that describes the client. */
  readonly clientMetadataUrl?: string | undefined
  /** The port of the redirect, if it must be a fixed one. */
  readonly callbackPort?: number | undefined
  readonly scopes?: readonly string[] | undefined
}

/** The client library of the protocol, which implements OAuth. */
export type OAuthLibrary = typeof import('@modelcontextprotocol/client')

/** Describes this client to an authorization server. */
export const clientMetadata = ({ scopes }: SignInConfig, redirectUrl: string): OAuthClientMetadata => ({
  client_name: 'Holdfast',
  redirect_uris: [redirectUrl],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  ...(scopes && scopes.length > 0 && { scope: scopes.join(' ') }),
})
