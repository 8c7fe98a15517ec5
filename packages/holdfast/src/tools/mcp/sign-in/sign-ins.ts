import { createHash } from 'node:crypto'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ok, type Result } from '@holdfast/protocol'
import type { OAuthDiscoveryState, StoredOAuthClientInformation, StoredOAuthTokens } from '@modelcontextprotocol/client'
import { z } from 'zod'
import { ensurePrivateDirectory } from '../../../system/files/private-directory.ts'
import { replaceAlone } from '../../../system/files/replace-alone.ts'
import { systemErrorCode } from '../../../system/system-error.ts'

const Credential = z.object({
  client: z.looseObject({ client_id: z.string() }),
  tokens: z.looseObject({ access_token: z.string(), refresh_token: z.string().optional() }),
})
const CredentialFile = z.object({
  version: z.literal(1),
  url: z.string(),
  /** The authorization server in use. */
  issuer: z.string(),
  /** By authorization server: what one has issued is never sent to another. */
  issuers: z.record(z.string(), Credential),
  discovery: z.looseObject({}).optional(),
  /** The scopes that the server asked for after the sign-in. The next sign-in asks for them too. */
  wantedScope: z.string().optional(),
})

/** What a sign-in to a server has given. */
export type SignedIn = {
  readonly issuer: string
  readonly client: StoredOAuthClientInformation
  readonly tokens: StoredOAuthTokens
  readonly discovery: OAuthDiscoveryState | undefined
  readonly wantedScope?: string | undefined
}

/** Changes the credentials while no other process does. `write` saves; if it is not called, nothing changes. */
type Change<Value> = (
  known: SignedIn | null,
  write: (next: SignedIn) => Promise<Result<undefined>>,
) => Promise<Result<Value>>

/** The credentials of servers: one private file for each URL, readable by its owner only. */
export function createSignIns(directory: string) {
  const pathOf = (url: string) =>
    join(directory, `${createHash('sha256').update(new URL(url).href).digest('hex').slice(0, 32)}.json`)

  return {
    /** Returns null if nobody has signed in. */
    read: async (url: string): Promise<SignedIn | null> => toSignedIn(await readCredentialFile(pathOf(url))),

    async change<Value>(url: string, change: Change<Value>): Promise<Result<Value>> {
      ensurePrivateDirectory(directory)
      const path = pathOf(url)
      return replaceAlone(path, async (write) => {
        const before = await readCredentialFile(path)
        return change(toSignedIn(before), ({ issuer, client, tokens, discovery, wantedScope }) =>
          write(
            JSON.stringify({
              version: 1,
              url: new URL(url).href,
              issuer,
              issuers: { ...before?.issuers, [issuer]: { client, tokens } },
              ...(discovery && { discovery }),
              ...(wantedScope !== undefined && { wantedScope }),
            }),
          ),
        )
      })
    },

    /** Forgets a sign-in. Returns whether there was one. */
    async remove(url: string): Promise<Result<boolean>> {
      const known = await readCredentialFile(pathOf(url))
      await rm(pathOf(url), { force: true })
      return ok(known !== null)
    },
  }
}

export type SignIns = ReturnType<typeof createSignIns>

async function readCredentialFile(path: string): Promise<z.infer<typeof CredentialFile> | null> {
  try {
    const parsed = CredentialFile.safeParse(JSON.parse(await readFile(path, 'utf8')))
    return parsed.success ? parsed.data : null
  } catch (error) {
    if (error instanceof SyntaxError || systemErrorCode(error) !== null) return null
    throw error
  }
}

function toSignedIn(file: z.infer<typeof CredentialFile> | null): SignedIn | null {
  const found = file?.issuers[file.issuer]
  if (!file || !found) return null
  const { issuer, discovery, wantedScope } = file
  // Written by `change`; the library checks what it uses.
  const { client, tokens } = found as unknown as Pick<SignedIn, 'client' | 'tokens'>
  return { issuer, client, tokens, discovery: discovery as OAuthDiscoveryState | undefined, wantedScope }
}
