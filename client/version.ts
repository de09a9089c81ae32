/** Version of package.json, which the sources and the packed program would find in different places. */
export const VERSION = '0.1.0';
