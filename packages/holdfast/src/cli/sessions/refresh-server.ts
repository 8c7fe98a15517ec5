import { connectHoldfast } from '@holdfast/client'
import type { CliContext } from '../context/cli-context.ts'
import { findServer } from './connect.ts'
import { readToken } from './server-file.ts'

/** Has the running server read keys and facts anew, if one runs; answers with what people should be told of that. */
export async function refreshServer(place: CliContext): Promise<string | null> {
  const server = await findServer(place)
  if (!server) return null
  const refreshed = await connectHoldfast({ url: server.url, token: readToken(server) }).refreshCredentials()
  return refreshed.ok
    ? `The server at ${server.url} knows of it.`
    : `The server at ${server.url} could not be told: ${refreshed.fault.message} It knows of it when it starts again.`
}
