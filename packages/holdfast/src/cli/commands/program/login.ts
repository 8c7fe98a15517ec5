import { orThrow } from '@holdfast/protocol/result'
import type { RunCommand } from '../../args/command-spec.ts'
import { connectServer, withTokens } from '../../connect/connect.ts'
import { counted } from '../../render/tables.ts'
import { failWith, rejectUsage } from '../../terminal/exit.ts'
import { isLocalLink, linkFromHere, onlyThisMachine } from './links.ts'
import type { programSpecs } from './specs.ts'

/** Prints a fresh login link of the running server, or ends all logins. */
export const run: RunCommand<typeof programSpecs.login> = async ({ flags }, context) => {
  const { out, err } = context
  if (flags['revoke-all']) {
    if (flags.qr) return rejectUsage('--qr shows a new link. Leave it out with --revoke-all.')
    return withTokens(context, { creates: false }, async (tokens) => {
      const { ended } = orThrow(await tokens.revokeLogins())
      if (flags.json) return out.writeJson({ ended })
      await err.tell(`Ended ${counted(ended, 'login')} of the page. What they had open ends within a second.`)
    })
  }
  const { url, holdfast } = await connectServer(context)
  const login = await holdfast.createLoginLink()
  const networkLink =
    login.networkLink ?? (context.server && !isLocalLink(url) ? linkFromHere(login.link, context) : null)
  const link = linkFromHere(login.link, context)
  if (flags.json) return void (await out.writeJson({ ...login, link, networkLink }))
  if (!flags.qr) {
    await err.tell('Open the page with this link. It works once, within ten minutes:')
    await out.write(`${link}\n`)
    if (networkLink !== null && !context.server) await err.tell(`From another machine:\n${networkLink}`)
    return undefined
  }
  if (networkLink === null) return failWith(onlyThisMachine(url))
  const { qrCode } = await import('../../render/qr-code.ts')
  await err.tell('Read this code with a phone on the same network. It works once, within ten minutes:')
  await out.write(`${qrCode(networkLink, out)}${networkLink}\n`)
  return undefined
}
