import type { ListedModel } from '@holdfast/protocol'
import { tokensText } from '../render/format.ts'
import { justify, line, type StyledLine, shownLine, span, styles } from '../term/lines.ts'
import { wrapText } from '../term/wrap.ts'
import type { FullView, ViewHost } from './full-view.ts'
import { createListView } from './list-view.ts'

type ModelsDeps = {
  readonly models: readonly ListedModel[]
  /** The model in use. */
  readonly current: string
  readonly onChoose: (model: string) => void
  readonly host: ViewHost
}

/** Lists the models; those that cannot be called come last and say why. */
export function createModelsView({ models, current, onChoose, host }: ModelsDeps): FullView {
  const sorted = [...models].sort((one, other) => Number(one.unusable !== null) - Number(other.unusable !== null))
  const startAt = Math.max(
    0,
    sorted.findIndex(({ model }) => model === current),
  )
  return createListView<ListedModel>(
    {
      hints: '↑↓ choose   Enter uses it   type to filter   Esc back',
      title: () => 'Models',
      items: () => sorted,
      startAt,
      row: (model, width) => modelRow(model, model.model === current, width),
      textOf: ({ model, title }) => `${model} ${title ?? ''}`,
      preview: ({ unusable, price, contextTokens, outputTokens, thinkingLevels }, width) => [
        ...(unusable === null ? [] : wrapText(shownLine(unusable), width, styles.warn)),
        line(
          `context ${contextTokens === null ? 'unknown' : tokensText(contextTokens)}, answer ${outputTokens === null ? 'unknown' : tokensText(outputTokens)}`,
          styles.dim,
        ),
        line(
          price === null ? 'price unknown' : `$${price.input} in, $${price.output} out per million tokens`,
          styles.dim,
        ),
        line(thinkingLevels === null ? '' : `thinks: ${thinkingLevels.join(', ')}`, styles.dim),
      ],
      onChoose: ({ model }) => onChoose(model),
    },
    host,
  )
}

function modelRow({ model, title, unusable }: ListedModel, isCurrent: boolean, width: number): StyledLine {
  const style = unusable === null ? styles.none : styles.dim
  const right = isCurrent ? [span('in use', styles.good)] : unusable === null ? [] : [span('no key', styles.dim)]
  return justify(
    [span(shownLine(model), style), span(title === null ? '' : `  ${shownLine(title)}`, styles.dim)],
    right,
    width,
  )
}
