import { orThrow } from '@holdfast/protocol/result'
import type { RunCommand } from '../../args/command-spec.ts'
import { checkNamed, connectServer } from '../../connect/connect.ts'
import { openNamed } from '../../connect/session-name.ts'
import { rejectUsage } from '../../terminal/exit.ts'
import { isLocalLink, linkFromHere } from '../program/links.ts'
import type { sessionSpecs } from './specs.ts'

/** Prints a link that shows one session of the running server to anyone with the link. */
export const run: RunCommand<typeof sessionSpecs.share> = async ({ positionals: [name = ''], flags }, context) => {
  const { out, err, now } = context
  if (flags.expires === 0) return rejectUsage('--expires must be more than 0.')
  checkNamed(context, name)
  const { holdfast } = await connectServer(context)
  const { id } = orThrow(await openNamed(holdfast.handles, context, name))
  const expiry = flags.expires === undefined ? {} : { expiresAt: new Date(now() + flags.expires).toISOString() }
  const shared = await holdfast.share(id, { ...expiry, ...(flags.name !== undefined && { name: flags.name }) })
  // A server that knows no address for others is reached under the one that --url gives.
  const link = isLocalLink(shared.link) ? linkFromHere(shared.link, context) : shared.link
  if (flags.json) return void (await out.writeJson({ ...shared, link }))
  const { token } = shared
  await err.tell(
    `Anyone with this link can read the session, and nothing else. To end it: holdfast token revoke ${token.id}`,
  )
  if (isLocalLink(link))
    await err.tell('Only this machine can open it. docs/network.md tells how others can reach the server.')
  if (flags.qr) {
    const { qrCode } = await import('../../render/qr-code.ts')
    await out.write(qrCode(link, out))
  }
  await out.write(`${link}\n`)
  return undefined
}
