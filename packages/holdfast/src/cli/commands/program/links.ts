import { type Fault, fault } from '@holdfast/protocol/fault'
import type { CliContext } from '../../terminal/cli-context.ts'

/** Returns whether only the machine of the server can open a link. */
export const isLocalLink = (link: string): boolean => /^http:\/\/(127\.0\.0\.1|localhost|\[::1\])[:/]/.test(link)

/** Returns a link under the address that `--url` gives: there this machine reaches the server. Other links stay as they are. */
export function linkFromHere(link: string, { server }: Pick<CliContext, 'server'>): string {
  if (!server) return link
  const { pathname, search, hash } = new URL(link)
  return `${server.url}${pathname}${search}${hash}`
}

/** Returns the fault for a code that no phone could use. */
export const onlyThisMachine = (url: string): Fault =>
  fault(
    'unreachable',
    `Only this machine can reach ${url}, so a phone cannot. Start the server with --host 0.0.0.0, or with --public-url behind a proxy.`,
    { url },
  )
