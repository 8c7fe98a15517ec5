import { readFileSync } from 'node:fs'
import { fault } from '@holdfast/protocol/fault'
import { escapeLine } from '@holdfast/protocol/hostile-text'
import { registerKey } from '../../system/secrets/known-keys.ts'
import { systemErrorCode } from '../../system/system-error.ts'
import type { CliContext, GivenServer } from '../terminal/cli-context.ts'
import { failWith, rejectUsage } from '../terminal/exit.ts'
import { isServing, readServerFile, readToken } from './server-file.ts'

/** Finds the token of a server: in the file given, in HOLDFAST_TOKEN, or in that of this home if it is its own server. */
export function findToken(
  given: string,
  tokenFile: string | undefined,
  { environment, home }: Pick<CliContext, 'environment' | 'home'>,
): GivenServer {
  const parsed = URL.canParse(given) ? new URL(given) : null
  if (parsed === null || !/^https?:$/.test(parsed.protocol))
    return rejectUsage(
      `--url must be the address of a server, such as http://127.0.0.1:4820, not '${escapeLine(given)}'.`,
    )
  const { origin: url } = parsed
  const own = readServerFile(home)
  const isOwn = own !== null && new URL(own.url).origin === url && isServing(home, own)
  const token =
    tokenFile === undefined
      ? environment['HOLDFAST_TOKEN'] || (isOwn ? readToken(own) : undefined)
      : readTokenFile(tokenFile)
  if (token !== undefined) registerKey(token)
  return { url, token }
}

function readTokenFile(path: string): string {
  try {
    const token = readFileSync(path, 'utf8').trim()
    return token === '' ? failWith(fault('unauthorized', `The file ${escapeLine(path)} is empty.`, { path })) : token
  } catch (error) {
    const code = systemErrorCode(error)
    if (code === undefined) throw error
    return failWith(fault('not_found', `Cannot read the token in ${escapeLine(path)}: ${code}.`, { path }))
  }
}
