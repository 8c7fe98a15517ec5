import { limits } from '@holdfast/protocol'
import type { HostileCase } from '../case.ts'
import { promptModel } from '../prompt-model.ts'
import { readCalls } from '../read-session.ts'
import { waitForRest } from '../wait-for-rest.ts'

const timeoutMs = 2000

/** The pages of the hostile site, and the text that the result of each must have. */
const pages: Readonly<Record<string, string>> = {
  endless: 'the rest was not read',
  bomb: 'the rest was not read',
  loop: 'redirects more than',
  private: 'private_address: ',
  local: 'private_address: ',
  file: 'reads http and https URLs only',
  silent: 'did not answer in full within',
  html: 'text/html',
}

/** Reads every page of the hostile site, several times at once. */
const hostileSite: HostileCase = {
  name: 'hostile-site',
  from: 'site',
  async run(run) {
    const times = run.isQuick ? 1 : 8
    const names = Object.keys(pages)
    const handle = await promptModel(run, 'hostile-site', () =>
      Array.from({ length: times }, () => names).flatMap((all) =>
        all.map((name) => {
          const isFast = name === 'silent'
          const args = { url: `http://${run.site.host}/${name}`, timeout_ms: isFast ? timeoutMs : 30_000 }
          return { tool: 'fetch_url', args }
        }),
      ),
    )
    await waitForRest(handle, 1)
    const calls = await readCalls(handle)
    const wrong = calls.flatMap(({ args, result }) => {
      const name = String(args['url']).split('/').at(-1) ?? ''
      const text = result?.text ?? ''
      if (text.length > 2 * limits.readFileBytesMax) return [`/${name} returns ${text.length} characters`]
      return text.includes(pages[name] ?? '') ? [] : [`/${name}: ${text.slice(0, 200)}`]
    })
    const missing = calls.length === times * names.length ? [] : [`there are ${calls.length} calls`]
    return { did: `read ${calls.length} pages of a hostile site`, violations: [...missing, ...wrong] }
  },
}

export const siteCases: readonly HostileCase[] = [hostileSite]
