import axe from 'axe-core'
import type { Page } from 'playwright-core'

/**
 * Returns what axe finds on a page as it is now, or within one element: the rule, and where it is broken. By default it
 * looks for all rules.
 */
export async function findAxeProblems(
  page: Page,
  within = 'html',
  rules?: readonly string[],
): Promise<readonly string[]> {
  if (!(await page.evaluate('"axe" in globalThis'))) await page.evaluate(axe.source)
  const options = JSON.stringify({ resultTypes: ['violations'], ...(rules && { runOnly: rules }) })
  // The browser's clock runs: an animation that is not over would be measured half way.
  const found: axe.AxeResults = await page.evaluate(`
    Promise.all(document.getAnimations().filter((one) => one.effect.getTiming().iterations !== Infinity).map((one) => one.finished))
      .then(() => axe.run('${within}', ${options}))
  `)
  return found.violations.flatMap(({ id, nodes }) =>
    nodes
      // The guards of an open menu pass the focus on at once: nobody stays on them.
      .filter(({ html }) => !(id === 'aria-hidden-focus' && html.includes('data-base-ui-focus-guard')))
      // A menu that is open has the focus, and needs no landmark to be found.
      .filter(({ html }) => !(id === 'region' && /^<div [^>]*class="popup /.test(html)))
      .map(({ target }) => `${id}: ${target.join(' ')}`),
  )
}
