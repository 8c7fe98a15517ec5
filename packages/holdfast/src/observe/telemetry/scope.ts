/** The name under which all we measure stands. */
export const scope = 'holdfast'
