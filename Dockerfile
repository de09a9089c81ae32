# The service with every engine it knows. Node comes with the image, so npm leaves out the one of package.json.
FROM node:26.10.0-slim

WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --omit=optional --ignore-scripts
COPY src src
COPY projections projections
COPY scripts scripts
COPY bin bin
COPY docs/openapi.yaml docs/openapi.yaml

# They come with the modes that they have where the image is built: with a umask of 027 the user could not read them.
RUN chmod -R a+rX package.json package-lock.json .npmrc src projections scripts bin docs/openapi.yaml \
  && ln -s /app/bin/deposit-service.js /usr/local/bin/deposit-service && mkdir /data && chown node:node /data
USER node
# Inside the container every address is the container's own; TLS is for the proxy in front of it to end.
ENV NODE_ENV=production MALLOC_ARENA_MAX=2 DEPOSIT_HOST=0.0.0.0 DEPOSIT_PORT=8080 DEPOSIT_DATA_DIR=/data DEPOSIT_TRUST_PROXY=true
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8080/health/ready').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "src/main.ts"]
